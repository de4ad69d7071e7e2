import { type Table, table } from '../yaml/table.ts';

/** torchtitan's presets, of which a run can change single settings: https://github.com/pytorch/torchtitan/tree/01424cb25449/torchtitan/models/llama3/train_configs */
const presets: Table<string> = table({
  'llama3_8b.toml': preset('8B', 1, 1, 'selective'),
  'llama3_70b.toml': preset('70B', 8, 8, 'full'),
  'llama3_405b.toml': preset('405B', 2, 8, 'full'),
});

/** The text of a settings file that a trainer brings along, by the path on its command line. */
export function presetText(path: string): string | undefined {
  return path.includes('train_configs/') ? presets[path.replace(/^.*\//, '')] : undefined;
}

function preset(flavor: string, batch: number, tensor: number, kept: string): string {
  return `[model]
name = "llama3"
flavor = "${flavor}"
[training]
local_batch_size = ${batch}
seq_len = 8192
[parallelism]
tensor_parallel_degree = ${tensor}
[activation_checkpoint]
mode = "${kept}"
`;
}
