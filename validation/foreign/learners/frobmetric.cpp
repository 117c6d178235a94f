// dlib's FrobMetric on given triplets. Reads from standard input: d n; n points; the number of anchors; for each its
// index, the number of its near points and their indices, and the same of its far points; C, epsilon, 1 for the identity
// as prior. Writes the rows of the transform, 17 digits each.
#include <dlib/matrix.h>
#include <dlib/statistics.h>

#include <iomanip>
#include <iostream>
#include <vector>

typedef dlib::matrix<double, 0, 1> Vector;

static std::vector<Vector> listed(const std::vector<Vector>& points)
{
    std::size_t count, at;
    std::cin >> count;
    std::vector<Vector> found;
    for (std::size_t k = 0; k < count; ++k)
    {
        std::cin >> at;
        found.push_back(points.at(at));
    }
    return found;
}

int main()
{
    std::size_t d, n, anchors, at;
    std::cin >> d >> n;
    std::vector<Vector> points(n, Vector(d));
    for (Vector& point : points)
        for (std::size_t k = 0; k < d; ++k)
            std::cin >> point(k);

    std::vector<dlib::frobmetric_training_sample<Vector>> samples;
    std::cin >> anchors;
    for (std::size_t i = 0; i < anchors; ++i)
    {
        dlib::frobmetric_training_sample<Vector> sample;
        std::cin >> at;
        sample.anchor_vect = points.at(at);
        sample.near_vects = listed(points);
        sample.far_vects = listed(points);
        samples.push_back(sample);
    }

    double C, epsilon;
    int prior;
    std::cin >> C >> epsilon >> prior;
    if (!std::cin)
        return 1;
    dlib::vector_normalizer_frobmetric<Vector> trainer;
    trainer.set_c(C);
    trainer.set_epsilon(epsilon);
    trainer.set_max_iterations(1000000);
    trainer.set_uses_identity_matrix_prior(prior == 1);
    trainer.be_verbose();
    trainer.train(samples);
    std::cout << "transform" << std::endl << std::setprecision(17) << trainer.transform();
}
