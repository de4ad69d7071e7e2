import { isolated } from './html-text.ts';
import type { CostPlace } from './report.ts';

/** Links to lines of files. The number of a link is its place in the order of the page: an editor opens files by it, not by the address. */
export interface Links<Place extends CostPlace> {
  /** An element with `path:line`. */
  toPlace(place: Place): string;
  readonly places: readonly Place[];
}

/** @param base the way from the folder of the page to the folder that paths are relative to, such as `../` */
export function createLinks<Place extends CostPlace>(base: string): Links<Place> {
  const places: Place[] = [];
  return {
    places,
    toPlace(place) {
      const number = places.push(place) - 1;
      const { path, line } = place;
      return `<a href="${addressOf(path, base)}" data-place="${number}">${isolated(path)}<span class="line">:${line}</span></a>`;
    },
  };
}

/** Encodes the steps of a path one by one, behind a start of ours: no name becomes a scheme, a host or markup. */
function addressOf(path: string, base: string): string {
  const start = /^[\\/]/.test(path) ? '/' : base || './';
  const steps = path
    .replace(/\p{Cs}/gu, '\ufffd')
    .replace(/^[\\/]+/, '')
    .split(/[\\/]/);
  return start + steps.map((step) => encodeURIComponent(step).replaceAll("'", '%27')).join('/');
}
