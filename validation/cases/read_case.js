// node validation/cases/read_case.js FILE     objective and lower bound of an MLSVM case, recomputed from the file alone:
//   lam/2 ||A||^2 + 1/n sum_i xi_i   and   sum u - ||G + L L^T||^2 / (2 lam),   G = sum u_ij X_ij - sum w_il X_il
const { inputs: { X, lam, targets, impostors }, proof } = JSON.parse(require("fs").readFileSync(process.argv[2]));
const d = [...X[0].keys()], sum = (values) => values.reduce((a, b) => a + b, 0), squares = (M) => sum(M.flat().map((v) => v * v));
const edge = (i, j) => d.map((k) => X[i][k] - X[j][k]);
const D = (i, j) => sum(d.map((a) => sum(d.map((b) => edge(i, j)[a] * proof.metric[a][b] * edge(i, j)[b]))));
const margin = (i) => Math.min(...impostors[i].map((j) => D(i, j))) - Math.max(...targets[i].map((l) => D(i, l)));
const xi = X.map((_, i) => (impostors[i].length && targets[i].length ? Math.max(0, 1 - margin(i)) : 0));
const G = d.map((a) => d.map((b) => sum(proof.psd[a].map((v, k) => v * proof.psd[b][k]))));
const add = (sign, values, index) => index.forEach(([i, j], k) => d.forEach((a) => d.forEach((b) => { G[a][b] += sign * values[k] * edge(i, j)[a] * edge(i, j)[b]; })));
add(1, proof.u, proof.u_index), add(-1, proof.w, proof.w_index);
console.log(JSON.stringify({ objective: lam / 2 * squares(proof.metric) + sum(xi) / X.length, lower_bound: sum(proof.u) - squares(G) / (2 * lam) }));
