// g++ -O2 -std=c++17 -I/usr/include/eigen3 stub.cpp -o stub;  cvxml conform --allow-skipped -- ./stub
// One question on the standard input, one answer on the standard output. Needs Eigen and nlohmann/json. Copy and go on.
#include <algorithm>
#include <iostream>
#include <map>
#include <vector>

#include <Eigen/Dense>
#include <nlohmann/json.hpp>

using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::json;

MatrixXd matrix(const json& rows) {
  MatrixXd M(rows.size(), rows[0].size());
  for (int i = 0; i < M.rows(); i++)
    for (int j = 0; j < M.cols(); j++) M(i, j) = rows[i][j].get<double>();
  return M;
}

json rows(const MatrixXd& M) {
  json found = json::array();
  for (int i = 0; i < M.rows(); i++) {
    const VectorXd row = M.row(i);
    found.push_back(std::vector<double>(row.data(), row.data() + row.size()));
  }
  return found;
}

// The inverse of the covariance within chunklets, which is optimal up to a multiple.
json rca(const json& given) {
  const MatrixXd X = matrix(given["X"]);
  std::map<int, std::vector<int>> chunklets;
  for (int i = 0; i < X.rows(); i++)
    if (given["chunklets"][i] != -1) chunklets[given["chunklets"][i].get<int>()].push_back(i);
  MatrixXd C = MatrixXd::Zero(X.cols(), X.cols());
  int n = 0;
  for (const auto& [name, members] : chunklets) {
    const MatrixXd own = X(members, Eigen::all);
    const MatrixXd centred = own.rowwise() - own.colwise().mean();
    C += centred.transpose() * centred;
    n += members.size();
  }
  C = C / n + given["alpha"].get<double>() * MatrixXd::Identity(X.cols(), X.cols());
  return {{"metric", rows(C.inverse())}};
}

json mlsvm_slacks(const json& given) {
  const MatrixXd X = matrix(given["X"]), A = matrix(given["metric"]);
  auto D = [&](int i, int j) { return ((X.row(i) - X.row(j)) * A * (X.row(i) - X.row(j)).transpose())(0); };
  std::vector<double> xi(X.rows(), 0.0);
  double sum = 0;
  for (int i = 0; i < X.rows(); i++) {
    const std::vector<int> T = given["targets"][i], J = given["impostors"][i];
    if (T.empty() || J.empty()) continue;
    double far = -INFINITY, near = INFINITY;
    for (int l : T) far = std::max(far, D(i, l));
    for (int j : J) near = std::min(near, D(i, j));
    sum += xi[i] = std::max(0.0, 1 + far - near);
  }
  const double objective = given["lam"].get<double>() / 2 * A.squaredNorm() + sum / X.rows();
  return {{"answer", {{"xi", xi}, {"objective", objective}}}};
}

json psd_projection(const json& given) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> of(matrix(given["matrix"]));
  const VectorXd kept = of.eigenvalues().cwiseMax(0);
  return {{"answer", {{"projection", rows(of.eigenvectors() * kept.asDiagonal() * of.eigenvectors().transpose())}}}};
}

int main() {
  const std::map<std::string, json (*)(const json&)> known = {
      {"rca", rca}, {"mlsvm_slacks", mlsvm_slacks}, {"psd_projection", psd_projection}};
  const json question = json::parse(std::cin);
  const auto found = known.find(question["formula"]);
  std::cout << (found == known.end() ? json{{"unsupported", "not yet"}} : found->second(question["inputs"])) << "\n";
}
