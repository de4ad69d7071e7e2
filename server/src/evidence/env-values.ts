import { variableValues } from '../catalog/variable-names.ts';
import { wordSet } from '../catalog/word-patterns.ts';

/** What a program requires of the value of one of its variables. */
export interface EnvValue {
  readonly form: string;
  readonly mustBe: string;
  /** What the program does with another value. */
  readonly effect: string;
}

/** By the name of the variable. */
export const envValues: ReadonlyMap<string, EnvValue> = new Map(
  variableValues.flatMap((value) => value.names.split(' ').map((name) => [name, value] as const)),
);

const switches = wordSet('1 true yes on y debug verbose all');

const capabilities = wordSet('all compute compat32 display graphics ngx utility video');

const off = wordSet('false no off');

/** What people call vLLM's FLASH_ATTN, FLASHINFER, XFORMERS, TORCH_SDPA and the rest. */
const notBackends = wordSet(
  'FLASH_ATTENTION FLASHATTN FLASHATTENTION FLASH-ATTN FLASH_ATTN_2 FLASH_ATTENTION_2 FLASH_INFER FLASH-INFER XFORMER',
  'SDPA AUTO PAGED_ATTENTION FLASH TRUE EAGER',
);

/** Whether a number is in the range of a form such as `0..31`. */
function isInRange(value: string, form: string): boolean | undefined {
  const [, least, most] = /^(\d+)\.\.(\d+)$/.exec(form) ?? [];
  if (most === undefined) return undefined;
  return /^\d{1,12}$/.test(value) && Number(value) >= Number(least) && Number(value) <= Number(most);
}

/** Whether a value has its form, or may have it. */
export function isOfForm(value: string, form: string): boolean {
  switch (form) {
    case 'allocator':
      return !value.includes('=') && value.includes(':');
    case 'share':
      // With unified memory, it may be a small number above 1.
      return /^\.?\d/.test(value) && Number(value) < 20;
    case 'interface':
      // Only NCCL reads patterns.
      return !/^(?:[\^=].*|lo)$/.test(value);
    case 'link':
      return !/^=?lo$/.test(value);
    case 'capabilities': {
      const parts = value.split(',').map((part) => part.trim());
      // Alone, utility is for nvidia-smi.
      return parts.every((part) => capabilities.has(part)) && parts.some((part) => part !== 'utility' && part !== '');
    }
    case 'level':
      return !switches.has(value.toLowerCase());
    case 'version':
      return /^\d{1,2}\.\d{1,2}\.\d{1,2}$/.test(value);
    case 'backend':
      return value === value.toUpperCase() && !notBackends.has(value);
    case 'threads':
      return !/^(?:0|-\d{1,4})$/.test(value);
    case 'percentage':
      return /^\d/.test(value) && Number(value) > 0 && Number(value) <= 100;
    case 'device-limits':
      return value.split(',').every((part) => part.trim() === '' || part.includes('='));
    case 'duration':
      // Go's notation; a number without a unit counts seconds. A value that is quoted twice is unquoted.
      return /^["']?-?(?:\d+|(?:\d+(?:\.\d+)?(?:h|m|s|ms|us|ns))+)["']?$/.test(value);
    case 'integer':
      return /^[-+]?\d{1,12}$/.test(value);
    case 'number':
      // Anything but a number is read as 0, which is what these mean.
      return /^[-+]?\d/.test(value) || off.has(value.toLowerCase());
    default:
      return isInRange(value, form) ?? form.slice(1).split(' ').includes(value.toLowerCase());
  }
}
