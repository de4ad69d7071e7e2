import type { Range } from './types.ts';

// Amounts as hovers, lenses, reports and the CLI write them, in US dollars.

/** Hours per month, as clouds bill them: 365 × 24 / 12. */
export const HOURS_PER_MONTH = 730;

/** What no amount includes. docs/cost.md has the full list. */
export const notCounted = 'storage, egress, control planes, and pods without GPUs';

/** `$6.88/h`, `$0–$20.64/h`. */
export function formatHourly(hourly: Range | number): string {
  return `${formatAmount(hourly)}/h`;
}

/** `from $2.01/h`, if the ceiling of an amount is unknown. */
export function fromWords(
  amount: Range,
  isOpen: boolean,
  format: (amount: Range | number) => string = formatHourly,
): string {
  return isOpen ? `from ${format(amount.min)}` : format(amount);
}

/** `$0 to $20.64 an hour`, for a screen reader. */
export function spokenHourly(hourly: Range | number): string {
  return `${formatRange(asRange(hourly), formatCents, ' to ')} an hour`;
}

/** `$6.88`, `$0–$20.64`: for tables with the unit in the header, and for amounts without a unit. */
export function formatAmount(amount: Range | number): string {
  return formatRange(asRange(amount), formatCents);
}

/** `$5,022/month`, from an hourly amount. */
export function formatMonthly(hourly: Range | number): string {
  return `${formatMonthlyAmount(hourly)}/month`;
}

/** `$5,022`, from an hourly amount: for tables with the unit in the header. */
export function formatMonthlyAmount(hourly: Range | number): string {
  const { min, max } = asRange(hourly);
  return formatDollars({ min: min * HOURS_PER_MONTH, max: max * HOURS_PER_MONTH });
}

/** `$5,022`: whole dollars. */
export function formatDollars(amount: Range | number): string {
  return formatRange(asRange(amount), formatWhole);
}

/** `8`, `0–3`, `0.25`, `1/7`; `?` for an unknown number. */
export function formatCount(count: { readonly min: number | null; readonly max: number | null }): string {
  const low = count.min === null ? '?' : formatPart(count.min);
  const high = count.max === null ? '?' : formatPart(count.max);
  return low === high ? low : `${low}–${high}`;
}

/** A sum of devices: the digits of slices would look exact, but less than one device must not become another number. */
export function roundedCount(count: number): number {
  return count < 1 ? count : Math.round(count * 10) / 10;
}

/** A part of a device is a fraction where decimals would be rounded. */
function formatPart(count: number): string {
  if (!(count > 0 && count < 1) || isPart(count, 1000)) return formatNumber(count);
  const parts = Array.from({ length: maxParts }, (_, index) => index + 1).find((one) => isPart(count, one));
  return parts === undefined ? formatNumber(count) : `${Math.round(count * parts)}/${parts}`;
}

/** As many pods or slices share a device. */
const maxParts = 64;

/** Whether a number consists of whole parts. Totals have six decimals. */
function isPart(value: number, parts: number): boolean {
  return Math.abs(value - Math.round(value * parts) / parts) < 1e-6;
}

/** A number with at most three decimals and no trailing zeros. */
export function formatNumber(value: number): string {
  // Nearly all are counts.
  if (Number.isInteger(value) && value >= 0 && value < 1000) return String(value);
  return decimal(value, 3)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}

/** `281`, `15.6`, `8.3`: GiB with one digit below a hundred. */
export function formatGiB(gib: number): string {
  return formatNumber(gib < 100 ? Math.round(gib * 10) / 10 : Math.round(gib));
}

/** `40 s`, `20 min`, `2.5 h`, `12 days`. */
export function formatDuration(seconds: number): string {
  if (seconds < 100) return `${formatNumber(Math.round(seconds * 10) / 10)} s`;
  if (seconds < 6000) return `${formatNumber(Math.round(seconds / 6) / 10)} min`;
  if (seconds < 345_600) return `${formatNumber(Math.round(seconds / 360) / 10)} h`;
  return `${formatNumber(Math.round(seconds / 86_400))} days`;
}

/** `1 GPU`, `2 GPUs`, `0–3 pods`, `1/7 GPU`. */
export function plural(
  count: number | { readonly min: number | null; readonly max: number | null },
  noun: string,
): string {
  const text = typeof count === 'number' ? formatNumber(count) : formatCount(count);
  return `${text} ${noun}${text === '1' || /^\d+\/\d+$/.test(text) ? '' : 's'}`;
}

/** Dollars and cents: `$6.88`, `$20.60`; `<$0.01` for less than half a cent. */
function formatCents(amount: number): string {
  if (amount === 0) return '$0';
  if (amount < 0.005) return '<$0.01';
  return `$${decimal(amount, 2)}`;
}

function formatWhole(amount: number): string {
  if (amount === 0) return '$0';
  if (amount < 1) return '<$1';
  return `$${decimal(amount, 0)}`;
}

function formatRange(range: Range, format: (amount: number) => string, to = '–'): string {
  const low = format(range.min);
  const high = format(range.max);
  return low === high ? low : `${low}${to}${high}`;
}

function asRange(amount: Range | number): Range {
  return typeof amount === 'number' ? { min: amount, max: amount } : amount;
}

/**
 * A fixed number of decimals, with a comma between thousands, as `Intl.NumberFormat` writes it for en-US. The platform's formatter loads
 * its tables on first use, which takes a fifth of the server's startup time.
 */
function decimal(value: number, digits: number): string {
  // Nobody reads more digits, and numbers from 10^21 would have an exponent.
  if (!(Math.abs(value) <= 1e15)) return value > 0 ? 'more than 10^15' : '?';
  const [mantissa = '', exponent = '0'] = String(Math.abs(value)).split('e');
  // Scale as decimal text: rounds 1.005 as written, not the binary number just below it.
  const scaled = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`));
  const text = String(scaled).padStart(digits + 1, '0');
  const point = text.length - digits;
  const whole = text.slice(0, point).replace(/\B(?=(?:\d{3})+$)/g, ',');
  return `${value < 0 && scaled !== 0 ? '-' : ''}${whole}${digits > 0 ? '.' : ''}${text.slice(point)}`;
}

/** `on demand`, `spot`. */
export function pricingWords(pricing: string): string {
  return pricing.replace('-', ' ');
}
