/** The hours in a Go duration: `1h30m`; 0 if it is not one. */
export function hoursIn(text: string | undefined): number {
  if (text === undefined || !/^(?:\d{1,9}[hms])+$/.test(text)) return 0;
  const parts = [...text.matchAll(/(\d+)([hms])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) / (unit === 'h' ? 1 : unit === 'm' ? 60 : 3600), 0);
}
