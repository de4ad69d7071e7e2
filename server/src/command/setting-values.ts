import type { TrainerSetting } from './training-flags.ts';

/** A count: `512`, `8k`; null for anything else. */
export function countOf(setting: TrainerSetting | undefined): number | null {
  const [, digits, unit] = /^(\d{1,9})(k?)$/i.exec(setting?.value ?? '') ?? [];
  const value = Number(digits ?? 0) * (unit ? 1024 : 1);
  return value > 0 ? value : null;
}

/** Whether a value, in lower case, turns something on. */
export const isOn = (value: string | undefined) =>
  value !== undefined && !/^(?:false|no|none|off|0|disabled|null)?$/.test(value);
