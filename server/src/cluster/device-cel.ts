import { Environment } from '@marcbachmann/cel-js';
import type { DeviceMatcher } from '../fleet/device-allocation.ts';
import type { Attribute, Device } from '../fleet/devices.ts';
import { parseQuantity } from '../model/quantity.ts';

// The CEL of device selectors: https://kubernetes.io/docs/reference/using-api/cel/

class Quantity {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

class Semver {
  readonly parts: readonly (number | string)[];
  constructor(text: string) {
    const match = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/.exec(text);
    if (match === null) throw new Error(`invalid semantic version: ${text}`);
    const [, major, minor, patch, pre] = match;
    const release = [major, minor, patch].map(Number);
    // A version without a pre-release is greater than one with it.
    this.parts = [...release, ...(pre === undefined ? ['~'] : pre.split('.').map(numberOrText))];
  }
}

function numberOrText(part: string): number | string {
  return /^\d+$/.test(part) ? Number(part) : part;
}

/** A number is less than a text, and a shorter list than its continuation. */
function compareVersions(left: Semver, right: Semver): number {
  for (let at = 0; at < Math.max(left.parts.length, right.parts.length); at++) {
    const [a, b] = [left.parts[at] ?? -1, right.parts[at] ?? -1];
    if (a === b) continue;
    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
    return a < b ? -1 : 1;
  }
  return 0;
}

const environment = new Environment({ unlistedVariablesAreDyn: false })
  .registerType('Quantity', Quantity)
  .registerType('Semver', Semver)
  .registerVariable('device', 'map')
  .registerFunction('quantity(string): Quantity', (text: string) => quantityOf(text))
  .registerFunction('isQuantity(string): bool', (text: string) => parseQuantity(text) !== null)
  .registerFunction('semver(string): Semver', (text: string) => new Semver(text))
  .registerFunction('Quantity.compareTo(Quantity): int', (a: Quantity, b: Quantity) => sign(a.value - b.value))
  .registerFunction('Quantity.isGreaterThan(Quantity): bool', (a: Quantity, b: Quantity) => a.value > b.value)
  .registerFunction('Quantity.isLessThan(Quantity): bool', (a: Quantity, b: Quantity) => a.value < b.value)
  .registerFunction('Quantity.asInteger(): int', (a: Quantity) => BigInt(a.value))
  .registerFunction('Quantity.add(Quantity): Quantity', (a: Quantity, b: Quantity) => new Quantity(a.value + b.value))
  .registerFunction('Quantity.sub(Quantity): Quantity', (a: Quantity, b: Quantity) => new Quantity(a.value - b.value))
  .registerFunction('Semver.compareTo(Semver): int', (a: Semver, b: Semver) => sign(compareVersions(a, b)))
  .registerFunction('Semver.isGreaterThan(Semver): bool', (a: Semver, b: Semver) => compareVersions(a, b) > 0)
  .registerFunction('Semver.isLessThan(Semver): bool', (a: Semver, b: Semver) => compareVersions(a, b) < 0)
  .registerFunction('Semver.major(): int', (a: Semver) => BigInt(a.parts[0] ?? 0))
  .registerFunction('Semver.minor(): int', (a: Semver) => BigInt(a.parts[1] ?? 0))
  .registerFunction('Semver.patch(): int', (a: Semver) => BigInt(a.parts[2] ?? 0));

function sign(difference: number): bigint {
  return BigInt(Math.sign(difference));
}

function quantityOf(text: string): Quantity {
  const value = parseQuantity(text);
  if (value === null) throw new Error(`invalid quantity: ${text}`);
  return new Quantity(value);
}

/** Evaluates device selectors as the scheduler does. Expressions are parsed once, and each is evaluated once for a device. */
export function deviceMatcher(): DeviceMatcher {
  const parsed = new Map<string, ((context: { device: unknown }) => unknown) | string>();
  const contexts = new WeakMap<Device, unknown>();
  return (expression, device) => {
    const program = parsed.get(expression) ?? parse(expression);
    parsed.set(expression, program);
    if (typeof program === 'string') return { error: program };
    const context = contexts.get(device) ?? contextOf(device);
    contexts.set(device, context);
    try {
      return program({ device: context }) === true;
    } catch (error) {
      return { error: `CEL runtime error: ${messageOf(error)}` };
    }
  };
}

function parse(expression: string): ((context: { device: unknown }) => unknown) | string {
  try {
    return environment.parse(expression);
  } catch (error) {
    return `CEL compile error: ${messageOf(error)}`;
  }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1).join();
}

function contextOf({ driver, attributes, capacity }: Device): unknown {
  return new Map<string, unknown>([
    ['driver', driver],
    ['attributes', byDomain([...attributes].map(([name, attribute]) => [name, celValueOf(attribute)]))],
    ['capacity', byDomain([...capacity].map(([name, quantity]) => [name, quantityOf(quantity)]))],
  ]);
}

function celValueOf({ type, value }: Attribute): unknown {
  if (type === 'int') return BigInt(value);
  return type === 'version' ? new Semver(value) : value;
}

/** A domain that the device does not have is empty, not an error. */
function byDomain(named: readonly (readonly [string, unknown])[]): ReadonlyMap<string, ReadonlyMap<string, unknown>> {
  const domains = new Map<string, Map<string, unknown>>();
  const domainOf = (domain: string) => domains.get(domain) ?? new Map<string, unknown>();
  for (const [name, value] of named) {
    const slash = name.lastIndexOf('/');
    const domain = name.slice(0, slash);
    domains.set(domain, domainOf(domain).set(name.slice(slash + 1), value));
  }
  const known = new Map(domains);
  // The library accepts only plain maps, so the method of this one is replaced.
  domains.get = (domain) => known.get(domain) ?? new Map<string, unknown>();
  return domains;
}
