import { expect, test } from 'vitest';
import {
  findLocalProcesses,
  findMpiProcesses,
  findNodeCounts,
  type ProcessInput,
} from '../../server/src/command/processes.ts';

const line = (command: readonly string[], env: ProcessInput['env'] = []): ProcessInput => ({ command, args: [], env });
const counts = (input: ProcessInput) => findLocalProcesses(input).map(({ kind, count, text }) => [kind, count, text]);

test('launchers', () => {
  expect(counts(line(['torchrun', '--nproc_per_node=8', 'train.py']))).toEqual([['launch', 8, '--nproc_per_node=8']]);
  expect(counts(line(['torchrun', '--nproc-per-node', 'gpu', 'train.py']))).toEqual([
    ['launch', 'all', '--nproc-per-node gpu'],
  ]);
  expect(counts(line(['python', '-m', 'torch.distributed.run', '--nproc-per-node=$(N)', 'x.py']))).toEqual([
    ['launch', null, '--nproc-per-node=$(N)'],
  ]);
  expect(counts(line(['accelerate', 'launch', '--num_machines', '2', '--num_processes', '16', 'x.py']))).toEqual([
    ['launch', 8, '--num_processes 16'],
  ]);
  expect(counts(line(['deepspeed', '--num_gpus=4', 'x.py']))).toEqual([['launch', 4, '--num_gpus=4']]);
  expect(counts(line(['python', 'x.py', '--num_gpus=4', '--num_processes=3']))).toEqual([]);
});

test('servers, scripts and the environment', () => {
  expect(counts(line(['sh', '-c', 'vllm serve m --tensor-parallel-size 2 && x']))).toEqual([
    ['shard', 2, '--tensor-parallel-size 2'],
  ]);
  expect(counts(line(['sh', '-c', 'export TP=8; serve']))).toEqual([]);
  expect(counts(line(['python3', 'rollout.py', 'tp=4']))).toEqual([]);
  expect(counts(line(['python3', 'launch.py', '--world_size', '4']))).toEqual([['world', 4, '--world_size 4']]);
  expect(
    counts(
      line(
        ['serve'],
        [
          { name: 'NUM_SHARD', value: '2' },
          { name: 'TENSOR_PARALLEL_SIZE', value: undefined },
        ],
      ),
    ),
  ).toEqual([
    ['shard', 2, 'NUM_SHARD=2'],
    ['shard', null, 'TENSOR_PARALLEL_SIZE='],
  ]);
});

test('nodes, and processes of mpirun', () => {
  expect(findNodeCounts(line(['torchrun', '--nnodes=4', 'x.py'])).map(({ count }) => count)).toEqual([4]);
  expect(findNodeCounts(line(['torchrun', '--nnodes=1:4', 'x.py'])).map(({ count }) => count)).toEqual([null]);
  expect(findNodeCounts(line(['python', 'x.py', '--nnodes=4']))).toEqual([]);
  const mpi = findMpiProcesses(line(['mpirun', '--oversubscribe', '-np', '16', 'python', 'x.py', '-n', '3']));
  expect(mpi.map(({ count, oversubscribes }) => [count, oversubscribes])).toEqual([[16, true]]);
});
