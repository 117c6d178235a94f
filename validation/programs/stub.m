% cvxml conform --allow-skipped -- octave-cli --quiet stub.m      (MATLAB: matlab -batch stub)
% One question on the standard input, one answer on the standard output. Copy and go on.
1;

function answer = respond(question)
  given = question.inputs;
  switch question.formula
    case 'rca'
      answer = struct('metric', {rca(given)});
    case 'gmml'
      answer = struct('metric', {gmml(given)});
    case 'mlsvm_slacks'
      answer = struct('answer', mlsvm_slacks(given));
    case 'psd_projection'
      [V, L] = eig((given.matrix + given.matrix') / 2);
      answer = struct('answer', struct('projection', V * max(L, 0) * V'));
    otherwise
      answer = struct('unsupported', 'not yet');
  end
end

% The inverse of the covariance within chunklets, which is optimal up to a multiple.
function B = rca(given)
  C = zeros(columns_of(given.X));
  for c = setdiff(unique(given.chunklets(:))', -1)
    own = given.X(given.chunklets == c, :);
    own = own - mean(own, 1);
    C = C + own' * own;
  end
  B = inv(C / sum(given.chunklets ~= -1) + given.alpha * eye(columns_of(given.X)));
end

% The geometric mean of S^-1 and D, for t = 1/2.
function A = gmml(given)
  S = scatter(given, given.pairs.similar);
  D = scatter(given, given.pairs.dissimilar);
  root = sqrtm(S);
  A = real(root \ sqrtm(root * D * root) / root);
  A = (A + A') / 2;
end

function S = scatter(given, pairs)
  E = given.X(pairs(:, 1) + 1, :) - given.X(pairs(:, 2) + 1, :);
  S = E' * E + given.mu * eye(columns_of(given.X));
end

function answer = mlsvm_slacks(given)
  n = size(given.X, 1);
  xi = zeros(1, n);
  for i = 1:n
    near = distances(given, i, given.impostors);
    far = distances(given, i, given.targets);
    if ~isempty(near) && ~isempty(far)
      xi(i) = max(0, 1 + max(far) - min(near));
    end
  end
  answer = struct('xi', xi, 'objective', given.lam / 2 * sum(given.metric(:) .^ 2) + mean(xi));
end

% From point i to those of its list, which counts from 0. Lists of one length are read as a matrix, others as cells.
function D = distances(given, i, lists)
  if iscell(lists), listed = lists{i}; else, listed = lists(i, :); end
  E = given.X(i, :) - given.X(listed(:) + 1, :);
  D = sum((E * given.metric) .* E, 2);
end

function d = columns_of(X)
  d = size(X, 2);
end

text = fread(0, Inf, 'char=>char')';  % MATLAB has no fread of the standard input: fileread('/dev/stdin')
disp(jsonencode(respond(jsondecode(text))));
