% McFee's MLR under Octave: octave-cli --quiet with_mlr.m FOLDER 3>&1 1>&2, the folder of the program (mlr_train.m), which
% prints much. A question on stdin, an answer on descriptor 3: docs/oracle.md. Its tolerance and its limit of
% rounds are lines of its source.
1;
function answer = mlr(given)
  names = struct('auc', 'AUC', 'precision', 'Prec@k', 'map', 'MAP', 'mrr', 'MRR', 'ndcg', 'NDCG');
  global ADMM_STEPS;
  ADMM_STEPS = 2000; % in place of 20
  n = rows(given.X);
  Y = cell(n, 2);
  for q = 1:n
    if iscell(given.relevant), relevant = given.relevant{q}; else, relevant = given.relevant(q, :); end
    Y{q, 1} = double(relevant(:)) + 1;
    Y{q, 2} = setdiff((1:n)', [q; Y{q, 1}]);
  end
  said = evalc("W = mlr_train(given.X', Y, given.C, names.(given.measure), given.k, 1);");
  answer = struct('metric', {(W + W') / 2});
end

% Octave has it in a package only: zeros below and to the right.
function B = padarray(A, more, value, where)
  B = zeros(size(A) + more(:)');
  B(1:rows(A), 1:columns(A)) = A;
end

arguments = argv();
folder = arguments{end};
addpath(genpath(folder));
question = jsondecode(fread(stdin, Inf, 'char=>char')');
if !strcmp(question.formula, 'mlr')
  answer = struct('unsupported', 'MLR only');
elseif !isfield(question.inputs, 'relevant')
  answer = struct('unsupported', 'relevant points are asked for');
else
  answer = mlr(question.inputs);
end
if isfield(answer, 'metric')
  rows_ = arrayfun(@(i) ['[' strjoin(arrayfun(@(v) sprintf('%.17g', v), answer.metric(i, :), 'UniformOutput', false), ', ') ']'], 1:rows(answer.metric), 'UniformOutput', false);
  answer = sprintf('{"metric": [%s]}', strjoin(rows_, ', '));
else
  answer = jsonencode(answer);
end
file = fopen('/dev/fd/3', 'w');
fprintf(file, '%s', answer);
fclose(file);
