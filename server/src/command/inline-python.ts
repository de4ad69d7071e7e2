import { either, oneOf } from '../catalog/word-patterns.ts';
import { once } from '../yaml/once.ts';
import type { RecognizedProgram } from './script-names.ts';
import { baseName } from './shell-lexer.ts';
import type { SimpleCommand } from './shell-parser.ts';
import { programWords } from './wrappers.ts';

/** The code that a command passes to Python: `python -c code`, or `python - <<EOF`. */
export const pythonCode = once((command: SimpleCommand): string | undefined => {
  const [program = '', ...rest] = programWords(command);
  if (!/^python[\d.]*$/.test(baseName(program))) return undefined;
  const at = rest.findIndex((word) => word === '-c' || word === '-m' || word === '-' || !word.startsWith('-'));
  if (rest[at] === '-c') return rest[at + 1];
  return at < 0 || rest[at] === '-' ? command.heredoc?.text : undefined;
});

/** What the code of `python -c` is for; undefined if that is unclear. */
export function useOfPython(code: string): RecognizedProgram | undefined {
  const text = code.slice(0, maxCode);
  const found = (use: RecognizedProgram['use']) => ({ program: 'python -c', use, confidence: 'likely' }) as const;
  if (serves.test(text)) return found('serving');
  if (trains.test(text)) return found('training');
  return looks.test(text) && endsByItself(text) ? found('batch') : undefined;
}

/** Loops, waits, and what runs other code. */
const mayGoOn = new RegExp(
  oneOf(
    '\\bwhile\\b \\bsleep\\b \\binput\\s*\\(',
    '\\bexec(?:file)?\\s*\\( \\b(?:import_module|subprocess)\\b',
    '\\bos\\.(?:system|exec\\w+|spawn\\w+)\\b',
  ),
);

/** Whether the code of `python -c` certainly ends: it has no loop without an end, does not sleep, and serves nothing. */
export function endsByItself(code: string): boolean {
  return code.length <= maxCode && !mayGoOn.test(code) && !serves.test(code);
}

/** Whether the code only prints what devices there are. */
export function onlyLooks(code: string): boolean {
  return looks.test(code) && code.length < 600 && endsByItself(code) && !trains.test(code);
}

/** Whether the code takes part in distributed work as one process, on one GPU: it joins the group of processes and starts no others. */
export function isOneRank(code: string): boolean {
  return (
    code.length <= maxCode && /\binit_process_group\s*\(/.test(code) && usesGpu.test(code) && !usesSeveral.test(code)
  );
}

/** Whether the code trains a model. */
export function isTraining(code: string): boolean {
  return code.length <= maxCode && trains.test(code);
}

const maxCode = 20_000;
const usesGpu = either(/['"]nccl['"]/, /\bcuda\.set_device\s*\(/);
const usesSeveral = either(
  new RegExp(
    `\\b(?:${oneOf('spawn fork Process Popen run_module execv\\w* start_processes elastic_launch LocalElasticAgent')})\\s*\\(`,
  ),
  /\b(?:multiprocessing|subprocess|os\.system|device_map|DataParallel)\b/,
  /\brange\s*\([^)\n]*device_count|\bdevice_ids\s*=\s*\[[^\]\n]*,/,
  /['"]gloo['"]|\bcuda:[1-9]/,
);
const serves = new RegExp(
  `\\b(?:${oneOf('uvicorn\\.run app\\.run serve_forever start_server launch_server run_server serve\\.run \\.launch\\(')})`,
);
const trains = /\.backward\(|\.fit\(|\btrainer\.train\(|\bTrainer\(|\boptimizer\.step\(|\bapply_gradients\(/;
const looks = either(
  /\b(?:is_available|device_count|get_device_name|get_device_properties)\s*\(/,
  /\b(?:list_physical_devices|list_local_devices|global_device_count|local_device_count)\s*\(/,
  /\bjax\.(?:local_)?devices\(/,
);
