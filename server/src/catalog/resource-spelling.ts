import { lazy } from '../yaml/lazy.ts';
import { table } from '../yaml/table.ts';
import { migByResource, migTables } from './mig.ts';
import { acceleratorResource, acceleratorResourceNames } from './resources.ts';
import { isExchange, isShuffled, isSlip } from './spelling.ts';

// Which accelerator resource a misspelt name was surely meant to be. Resource names are also the keys of the vendors' taints.
//
// A name is `domain/path`. Case counts for nothing, and the end of the domain (`.com`) may be missing. The rest of the domain may be one slip away
// or shuffled. The path may be in the plural, or one slip away. Without a slash both parts must be right. MIG profiles are compared without any
// separators. What two known names fit means neither.

/** Names that were right once, or that people take for the right one. */
const otherNames = table<string>({
  // Kubernetes before 1.10.
  'alpha.kubernetes.io/nvidia-gpu': 'nvidia.com/gpu',
  // The labels of GKE's TPU nodes begin so.
  'cloud.google.com/tpu': 'google.com/tpu',
});

/** The accelerator resource that a name was surely meant to be; undefined where it is right, or something else. */
export function meantResource(written: string): string | undefined {
  if (!/[./]/.test(written) || acceleratorResource(written) !== undefined) return undefined;
  const name = written.toLowerCase();
  const found = new Set(knownNames().flatMap((known) => (isMeant(name, known) ? [known.meant] : [])));
  const [only, ...others] = found;
  return others.length === 0 ? only : undefined;
}

/**
 * The MIG resource that a misspelt name was surely meant to be. Undefined where the name is right, or where what it would be is no profile of
 * any GPU.
 */
export function meantMigResource(written: string): string | undefined {
  const [domain = '', path, ...rest] = written.toLowerCase().split('/');
  if (path?.startsWith('mig') !== true || rest.length > 0 || migByResource(written).length > 0) return undefined;
  if (!isVendor(domain, partsOf('nvidia.com/mig', 'nvidia.com/mig'))) return undefined;
  const [only, ...others] = migNames().get(withoutSeparators(path)) ?? [];
  if (others.length === 0) return only;
  // `-me` is a name of its own: the profile without media engines, where `.me` is the one with them.
  const sign = /-[a-z.]+$/.test(path) ? '-' : '.';
  return [only, ...others].find((name) => name?.slice(name.indexOf('gb') + 2).startsWith(sign));
}

interface KnownName {
  readonly meant: string;
  readonly domain: string;
  /** The domain without its end. */
  readonly vendor: string;
  readonly path: string;
}

function partsOf(name: string, meant: string): KnownName {
  const slash = name.indexOf('/');
  const domain = name.slice(0, slash);
  return { meant, domain, vendor: domain.slice(0, domain.lastIndexOf('.')), path: name.slice(slash + 1) };
}

const knownNames = lazy(() => [
  ...acceleratorResourceNames().map((name) => partsOf(name, name)),
  ...Object.entries(otherNames).map(([name, meant]) => partsOf(name, meant)),
]);

function isMeant(name: string, known: KnownName): boolean {
  const slash = name.indexOf('/');
  if (slash >= 0) return isVendor(name.slice(0, slash), known) && isPath(name.slice(slash + 1), known.path);
  const joined = (domain: string) => `${domain}.${known.path}`.replace(/[_-]/g, '.');
  const plain = name.replace(/[_-]/g, '.');
  return plain === joined(known.domain) || plain === joined(known.vendor);
}

function isVendor(written: string, { domain, vendor }: KnownName): boolean {
  const end = domain.slice(vendor.length);
  const bare = written.endsWith(end) ? written.slice(0, -end.length) : written;
  return bare === vendor || isSlip(bare, vendor) || isShuffled(bare, vendor);
}

function isPath(written: string, path: string): boolean {
  const [one, other] = [singular(written), singular(path)];
  if (one === other || isExchange(one, other)) return true;
  // Of short names one letter makes another (`vgpu`, `pgpu`), and other separators may be somebody's own name.
  return other.length > 4 && separators(one) === separators(other) && isSlip(one, other);
}

function separators(path: string): string {
  return path.replace(/[a-z0-9]/g, '');
}

function singular(path: string): string {
  return path.endsWith('s') ? path.slice(0, -1) : path;
}

const migNames = lazy(() => {
  const index = new Map<string, string[]>();
  for (const name of new Set(migTables().flatMap(({ profiles }) => profiles.map(({ resource }) => resource)))) {
    const key = withoutSeparators(name.slice(name.indexOf('/') + 1));
    index.set(key, [...(index.get(key) ?? []), name]);
  }
  return index;
});

/** `mig-1g.10gb.me` -> `mig1g10gme`: the `b` may be missing too. */
function withoutSeparators(path: string): string {
  return path.replace(/[-._+]/g, '').replace(/(\dg\d+g)b/, '$1');
}
