/**
 * The chips of a slice that is named by its generation and size: `tpu-v3-8`, `v5litepod-16`. Before v5e and in v5p, the size is a number of
 * cores, of which a chip has two. Null for other names.
 * https://cloud.google.com/tpu/docs/v5p https://cloud.google.com/tpu/docs/v6e
 */
export function chipsInName(name: string): number | null {
  const [, version, kind = '', size] = /^(?:tpu-)?v([2-9])(p|e|x|-?lite(?:pod)?)?-(\d{1,5})$/i.exec(name) ?? [];
  if (version === undefined) return null;
  const countsCores = kind === '' ? Number(version) < 5 : kind.toLowerCase() === 'p';
  if (!countsCores && kind === '') return null;
  const chips = countsCores ? Number(size) / 2 : Number(size);
  return Number.isInteger(chips) && chips > 0 ? chips : null;
}
