import { lazy } from '../yaml/lazy.ts';
import { allInstanceTypes, instanceType } from './instances.ts';
import { isSlip } from './spelling.ts';
import type { InstanceType } from './types.ts';
import { wordSet } from './word-patterns.ts';

/**
 * The instance types that a value means if no provider can have a type of its name: one written with other separators, or a size that is no
 * size of its provider (`g5.12xlarg`, `p4d.24xl`), a size that an old family never got (`g4dn.large`), or the family alone (`g4dn`). Empty for known
 * types and for all that might exist: providers add types before the catalog does.
 */
export function instanceTypesMeant(value: string): readonly string[] {
  // The families of EC2. Other names without a size may be types of smaller clouds.
  const ofFamily = /^[a-z]{1,3}\d[a-z]{0,3}$/.test(value) ? (byFamily().get(`${value}.`) ?? []) : [];
  if (ofFamily.length > 0) return [...ofFamily].sort((a, b) => (a.vcpu ?? 0) - (b.vcpu ?? 0)).map(({ name }) => name);
  if (value.length < 5 || value.length > 63 || instanceType(value) !== undefined) return [];
  const ofSame = byFamily().get(familyOf(value)) ?? [];
  const same = byLetters().get(lettersOf(value)) ?? ofSame.filter(isSizeOf(value));
  if (same.length > 0 || !hasAllSizes(value)) return same.map(({ name }) => name);
  return [...ofSame].sort((a, b) => distance(value, a.name) - distance(value, b.name)).map(({ name }) => name);
}

/** Whether a value has a size of EC2, and a family that gets no more sizes. */
function hasAllSizes(value: string): boolean {
  const [family = '', size = ''] = value.split('.');
  // Bare metal comes later.
  return oldFamilies.has(family) && sizesOfEc2.test(size) && !size.startsWith('metal');
}

const oldFamilies = wordSet('dl1 g4ad g4dn g5 g5g inf1 inf2 p3 p3dn p4d p4de trn1 trn1n');

/** How far two sizes of EC2 are apart. */
function distance(one: string, other: string): number {
  return Math.abs(halvings(one) - halvings(other));
}

/** The size in powers of two, where 0 is `xlarge`. */
function halvings(type: string): number {
  const size = type.replace(/^.*\./, '');
  const times = /^(\d*)xlarge$/.exec(size)?.[1];
  // Bare metal is as large as the largest.
  return times === undefined ? (size.startsWith('metal') ? 6 : -1) : Math.log2(Number(times || 1));
}

const byLetters = lazy(() => typesBy(lettersOf));

function typesBy(wordOf: (name: string) => string): ReadonlyMap<string, readonly InstanceType[]> {
  const found = new Map<string, InstanceType[]>();
  for (const type of allInstanceTypes()) found.set(wordOf(type.name), [...(found.get(wordOf(type.name)) ?? []), type]);
  return found;
}

/** Without case, separators and the prefix that Azure's names are written with or without. */
function lettersOf(name: string): string {
  const letters = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return letters.replace(/^standard(?=n)/, '');
}

const byFamily = lazy(() => typesBy(familyOf));

/** With the separator: the names of EC2 have a dot, those of Compute Engine a hyphen. */
function familyOf(name: string): string {
  return /^[a-z][a-z\d]*(?:-[a-z]+(?=\.))?[.-]/.exec(name)?.[0] ?? '';
}

/** Whether a value is a type with its size misspelled. The letters of Azure's names stand for features: with others, it is another machine. */
function isSizeOf(value: string): (type: InstanceType) => boolean {
  const size = value.slice(familyOf(value).length);
  return ({ provider, name }) => {
    const known = name.slice(familyOf(name).length);
    if (provider === 'gcp') return isSlip(size, known);
    if (provider !== 'aws' || sizesOfEc2.test(size)) return false;
    return isSlip(size, known) || (/^\d+x/.test(size) && known.startsWith(size));
  };
}

/** https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html */
const sizesOfEc2 = /^(?:nano|micro|small|medium|(?:\d*x)?large|metal(?:-\d+xl)?)$/;
