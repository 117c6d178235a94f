// What mlpack's own functions give, called in two ways that should agree. Argument: a file of n rows of numbers, the
// label first. Writes "name value" lines.
#define ARMA_DONT_USE_WRAPPER
#include <mlpack/core.hpp>
#include <mlpack/methods/lmnn/lmnn_function.hpp>
#include <mlpack/methods/nca/nca_softmax_error_function.hpp>

#include <cstdio>

int main(int, char** argv)
{
  arma::mat read;
  read.load(argv[1], arma::raw_ascii);
  const arma::mat points = arma::trans(read.tail_cols(read.n_cols - 1));
  const arma::Row<size_t> labels = arma::conv_to<arma::Row<size_t>>::from(arma::trans(read.col(0)));
  const arma::mat identity(points.n_rows, points.n_rows, arma::fill::eye);

  mlpack::SoftmaxErrorFunction<> softmax(points, labels);
  double one_by_one = 0;
  for (size_t i = 0; i < points.n_cols; ++i)
    one_by_one += softmax.Evaluate(identity, i, 1);
  std::printf("nca_whole %.17g\n", softmax.Evaluate(identity));
  std::printf("nca_one_by_one %.17g\n", one_by_one);
  std::printf("nca_one_batch %.17g\n", softmax.Evaluate(identity, 0, points.n_cols));

  // A walk of 30 steps: the same object evaluated at each, beside a new object at each.
  mlpack::LMNNFunction<> walked(points, labels, 3, 0.5, 1);
  arma::arma_rng::set_seed(0);
  arma::mat L = identity;
  for (int step = 0; step < 30; ++step)
  {
    mlpack::LMNNFunction<> fresh(points, labels, 3, 0.5, 1);
    const double seen = walked.Evaluate(L);
    std::printf("lmnn_walked %.17g\nlmnn_fresh %.17g\n", seen, fresh.Evaluate(L));
    L += 0.03 * arma::randn(points.n_rows, points.n_rows);
  }
}
