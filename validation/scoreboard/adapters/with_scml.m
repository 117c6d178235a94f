% SCML of Shi, Bellet under Octave: octave-cli --quiet with_scml.m FOLDER 3>&1 1>&2, the folder of the authors' program
% (SCML_global.m) with its compiled parts. Triplets and basis are the question's; the weights are learnt by
% learning_w_rda_L1, whose number of steps is a line of its source.
1;
function answer = scml(given)
  X = given.X;
  B = given.basis;
  T = double(given.triplets);
  if columns(T) != 3, T = T'; end
  said = evalc("init_rng(0); w = learning_w_rda_L1(ones(1, rows(B)), B, X, T + 1, given.beta);");
  answer = B' * diag(w) * B;
end

arguments = argv();
folder = arguments{end};
addpath(genpath(folder));
question = jsondecode(fread(stdin, Inf, 'char=>char')');
if !strcmp(question.formula, 'scml')
  answer = '{"unsupported": "SCML only"}';
else
  M = scml(question.inputs);
  rows_ = arrayfun(@(i) ['[' strjoin(arrayfun(@(v) sprintf('%.17g', v), M(i, :), 'UniformOutput', false), ', ') ']'], 1:rows(M), 'UniformOutput', false);
  answer = sprintf('{"metric": [%s]}', strjoin(rows_, ', '));
end
file = fopen('/dev/fd/3', 'w');
fprintf(file, '%s', answer);
fclose(file);
