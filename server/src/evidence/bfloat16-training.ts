import { lastSetting, readTrainerSettings, type TrainerSetting } from '../command/training-flags.ts';
import type { Container, Workload } from '../model/workload.ts';
import { processInput } from './launch.ts';
import { hasRole } from './role-confidence.ts';

/** The flag by which a container trains in bfloat16: `--bf16`, `--mixed_precision=bf16`. */
export function bfloat16Flag(container: Container, workload: Workload): TrainerSetting['flag'] {
  if (!hasRole(workload, 'training')) return undefined;
  const { settings } = readTrainerSettings(processInput(container), []);
  return settings.find(
    (setting) => isBfloat16(setting) && lastSetting({ settings: [setting] }, 'precision') !== undefined,
  )?.flag;
}

function isBfloat16({ name, value = '', flag }: TrainerSetting): boolean {
  const text = value.toLowerCase().replace(/^torch\./, '');
  if (flag === undefined || flag.dynamic) return false;
  return formats.has(text) || (/(?:^|[.-])bf16(?:$|\.|-enabled$)/.test(name) && !off.has(text));
}

const formats: ReadonlySet<string> = new Set(['bf16', 'bfloat16', 'bf16-mixed', 'bf16-true']);
const off: ReadonlySet<string> = new Set(['false', '0', 'no', 'off', 'none']);
