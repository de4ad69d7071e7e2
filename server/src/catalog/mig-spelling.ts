import { migByResource } from './index.ts';

/**
 * The MIG resource that a misspelt name was surely meant to be: case, separators and the media suffix put right. Undefined where the
 * name is right, or where what it would be is no profile of any GPU.
 */
export function meantMigResource(written: string): string | undefined {
  const match = /^nvidia(?:\.com)?\/mig[-_.]?(\d+)g[-_.]?(\d+)gb?((?:[-+._]me(?:\.all)?|[-+._]gfx)?)$/i.exec(written);
  if (match === null || migByResource(written).length > 0) return undefined;
  const [, compute = '', memory = '', suffix = ''] = match;
  const name = `nvidia.com/mig-${compute}g.${memory}gb`;
  const word = suffix.slice(1).toLowerCase();
  // `-me` is a name of its own: the profile without media engines, where `.me` is the one with them.
  const candidates =
    suffix === '' ? [name] : [...(suffix.startsWith('-') ? [`${name}-${word}`] : []), `${name}.${word}`];
  return candidates.find((candidate) => migByResource(candidate).length > 0);
}
