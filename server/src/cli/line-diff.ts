/** Lines that replace other lines; both ends exclusive, counted from 0. */
export interface LineChange {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/**
 * The changes that turn one list of lines into another, in order. Uses Myers' algorithm in segments: after a fixed number of differences,
 * the path that got furthest is final. The result is always exact and nearly always shortest, in time linear in the number of lines.
 */
export function changedLines(before: readonly string[], after: readonly string[]): readonly LineChange[] {
  const numbers = new Map<string, number>();
  const numbered = (lines: readonly string[]) =>
    Int32Array.from(lines, (line) => {
      const number = numbers.get(line) ?? numbers.size;
      numbers.set(line, number);
      return number;
    });
  const [old, now] = [numbered(before), numbered(after)];
  const changes: LineChange[] = [];
  let place: Place = { x: 0, y: 0 };
  while (place.x < old.length || place.y < now.length) {
    for (const step of nextSteps(old, now, place)) {
      const { x, y } = place;
      const last = changes.at(-1);
      const moved = { x: x + step.removed, y: y + step.added };
      const grown = { oldStart: x, oldEnd: moved.x, newStart: y, newEnd: moved.y };
      if (step.removed + step.added > 0) {
        const touches = last?.oldEnd === x && last.newEnd === y;
        if (touches) changes[changes.length - 1] = { ...last, oldEnd: moved.x, newEnd: moved.y };
        else changes.push(grown);
      }
      place = { x: moved.x + step.kept, y: moved.y + step.kept };
    }
  }
  return changes;
}

/** The new number of a line: its own, or that of the first line that replaces it. */
export function lineAfter(changes: readonly LineChange[], line: number): number {
  let shift = 0;
  for (const { oldStart, oldEnd, newStart, newEnd } of changes) {
    if (oldStart > line) break;
    if (line < oldEnd) return Math.min(newStart + line - oldStart, Math.max(newStart, newEnd - 1));
    shift = newEnd - oldEnd;
  }
  return line + shift;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** At most one line removed or added, followed by unchanged lines. */
interface Step {
  readonly removed: 0 | 1;
  readonly added: 0 | 1;
  readonly kept: number;
}

const maxDifferences = 64;

/** The steps from a place to the end of both lists, or as far as the maximum number of differences leads. */
function nextSteps(old: Int32Array, now: Int32Array, from: Place): readonly Step[] {
  const [width, height] = [old.length - from.x, now.length - from.y];
  const kept = (x: number, y: number) => {
    let count = 0;
    while (x + count < width && y + count < height && old[from.x + x + count] === now[from.y + y + count]) count += 1;
    return count;
  };
  // The furthest x on each diagonal (x - y), after each number of differences.
  const rounds: Int32Array[] = [];
  for (let differences = 0; ; differences += 1) {
    const last = rounds.at(-1);
    const round = new Int32Array(2 * differences + 1).fill(-1);
    let best = 0;
    let furthest = -1;
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      const x = differences === 0 ? 0 : entered(last, diagonal, width, height);
      if (x < 0) continue;
      const end = x + kept(x, x - diagonal);
      round[diagonal + differences] = end;
      if (2 * end - diagonal > furthest) {
        furthest = 2 * end - diagonal;
        best = diagonal;
      }
    }
    rounds.push(round);
    if (furthest === width + height || differences === maxDifferences) return pathTo(rounds, best, width, height);
  }
}

/**
 * Where a diagonal is entered with one more difference: through an added line from above or a removed line from the left; -1 if neither.
 */
function entered(last: Int32Array | undefined, diagonal: number, width: number, height: number): number {
  const added = reached(last, diagonal + 1);
  const removed = reached(last, diagonal - 1);
  const byAdding = added >= 0 && added - diagonal <= height ? added : -1;
  const byRemoving = removed >= 0 && removed + 1 <= width ? removed + 1 : -1;
  return Math.max(byAdding, byRemoving);
}

function reached(round: Int32Array | undefined, diagonal: number): number {
  return round?.[diagonal + (round.length - 1) / 2] ?? -1;
}

function pathTo(rounds: readonly Int32Array[], diagonal: number, width: number, height: number): readonly Step[] {
  const steps: Step[] = [];
  let here = diagonal;
  for (let differences = rounds.length - 1; differences >= 0; differences -= 1) {
    const end = reached(rounds[differences], here);
    const last = rounds[differences - 1];
    const x = differences === 0 ? 0 : entered(last, here, width, height);
    const isRemoval = differences > 0 && reached(last, here - 1) + 1 === x && reached(last, here - 1) >= 0;
    steps.push({
      removed: isRemoval ? 1 : 0,
      added: differences > 0 && !isRemoval ? 1 : 0,
      kept: end - x,
    });
    here += isRemoval ? -1 : 1;
  }
  return steps.reverse();
}
