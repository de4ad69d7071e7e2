import { migByResource } from '../catalog/index.ts';

/**
 * The MIG resource that a misspelt name was surely meant to be: case, separators and the media suffix put right. Undefined where the
 * name is right, or where what it would be is no profile of any GPU.
 */
export function meantMigResource(written: string): string | undefined {
  const match = /^nvidia(?:\.com)?\/mig[-_.]?(\d+)g[-_.]?(\d+)gb?((?:[-+._]me(?:\.all)?|[-+._]gfx)?)$/i.exec(written);
  if (match === null) return undefined;
  const [, compute = '', memory = '', suffix = ''] = match;
  const plain = suffix === '' ? '' : `.${suffix.slice(1).toLowerCase()}`;
  const meant = `nvidia.com/mig-${compute}g.${memory}gb${plain}`;
  return meant !== written && migByResource(meant).length > 0 ? meant : undefined;
}
