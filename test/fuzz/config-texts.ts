import fc from 'fast-check';
import { gpus, platforms } from '../../server/src/catalog/index.ts';
import { ruleIds } from '../../server/src/rules/index.ts';
import { keys, numbers, values } from './hostile.ts';
import { mutate, mutatorNames, scale } from './mutate.ts';

/** Globs that make a matcher backtrack or expand without end. */
export const hostileGlobs: readonly string[] = [
  `${'*a'.repeat(20)}*b`,
  `${'**/'.repeat(30)}b`,
  `${'{a,aa}'.repeat(20)}b`,
  `${'a*'.repeat(30)}/**/${'*a'.repeat(30)}b`,
  `${'{'.repeat(40)}a,b${'}'.repeat(40)}`,
  `${'+(a|aa)'.repeat(12)}b`,
  `${'[a-z]*'.repeat(20)}!`,
  '!(a)',
  '{1..1000000}',
];

const scalar = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...gpus.keys(),
      ...platforms.keys(),
      'aws',
      'gcp',
      'spot',
      'on-demand',
      'mixed',
      'single',
      'none',
      'strict',
      'recommended',
      'cost-only',
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom(...numbers, ...values) },
  { weight: 1, arbitrary: fc.string({ maxLength: 20 }).map((text) => JSON.stringify(text)) },
);

const glob = fc
  .oneof(
    { weight: 1, arbitrary: fc.constantFrom(...hostileGlobs) },
    {
      weight: 3,
      arbitrary: fc
        .array(
          fc.constantFrom(
            '*',
            '**',
            '?',
            '/',
            'a',
            'a.yaml',
            '.yaml',
            '{',
            '}',
            ',',
            '[',
            ']',
            '!',
            '(',
            ')',
            '|',
            '+',
            '@',
            '\\',
            '.',
            '..',
            '~',
            'deploy',
            'ü',
            '🚀',
          ),
          { minLength: 1, maxLength: 14 },
        )
        .map((parts) => parts.join('')),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('*a', 'a*', '?*', '{a,b}', '**/', '*', '[a]'), fc.integer({ min: 1, max: 60 }))
        .map(([part, times]) => part.repeat(times)),
    },
  )
  .map((text) => JSON.stringify(text));

const level = fc.constantFrom('error', 'warning', 'info', 'hint', 'off', 'no', '1', 'constructor');
const rule = fc.constantFrom(...ruleIds, ...keys);

const line = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        'extends',
        'platform',
        'provider',
        'region',
        'gpu',
        'capacity',
        'migStrategy',
        'kubernetesVersion',
        ...keys,
      ),
      scalar,
    )
    .map(([key, value]) => `${key}: ${value}`),
  fc
    .array(fc.tuple(rule, level), { maxLength: 4 })
    .map((rules) => `rules: {${rules.map(([id, to]) => `${id}: ${to}`).join(', ')}}`),
  fc
    .tuple(rule, fc.constantFrom('hours', 'gpus', 'spotMinutes', ...keys), fc.constantFrom(...numbers))
    .map(([id, option, value]) => `ruleOptions: {${id}: {${option}: ${value}}}`),
  fc.array(glob, { maxLength: 4 }).map((globs) => `ignore: [${globs.join(', ')}]`),
  fc
    .tuple(
      fc.array(glob, { maxLength: 3 }),
      fc.constantFrom('gpu: h100-80gb-sxm', 'rules: {gpu-quantity-whole: off}', 'region: us-east-1', 'overrides: []'),
    )
    .map(([globs, rest]) => `overrides:\n  - files: [${globs.join(', ')}]\n    ${rest}`),
  fc
    .tuple(
      fc.constantFrom(
        'kserve: {version: ',
        'serving: {idleHoursPerDay: ',
        'sharing: {strategy: time-slicing, replicas: ',
        'training: {stepSeconds: ',
        'training: {hoursBetweenInterruptions: ',
      ),
      fc.constantFrom(...numbers),
    )
    .map(([before, value]) => `${before}${value}}`),
  fc
    .tuple(fc.constantFrom(...gpus.keys(), ...keys), fc.constantFrom(...numbers))
    .map(([gpu, price]) => `prices: {gpus: {${gpu}: ${price}}}`),
  fc
    .tuple(fc.constantFrom(...gpus.keys(), ...keys), fc.constantFrom(...numbers), fc.constantFrom(...numbers))
    .map(
      ([gpu, price, spot]) =>
        `prices: {discountPercent: ${price}, instanceTypes: {p5.48xlarge: ${spot}, ${gpu}: ${price}}}`,
    ),
  fc
    .tuple(fc.constantFrom('team', ...keys), scalar, fc.constantFrom('NoSchedule', 'x'))
    .map(
      ([key, value, effect]) =>
        `taints: [{key: ${key}, value: ${value}, effect: ${effect}}]\nnodePools: [{name: ${value}, labels: {${key}: ${value}}, gpu: a100-40gb-sxm}]`,
    ),
);

const mutation = fc.record({
  kind: fc.constantFrom(...mutatorNames),
  at: fc.nat(scale - 1),
  choice: fc.nat(scale - 1),
});

/** Valid configs, nearly valid ones, and mutations of both. */
export const configText: fc.Arbitrary<string> = fc
  .tuple(fc.array(line, { maxLength: 6 }), fc.array(line, { maxLength: 3 }), fc.array(mutation, { maxLength: 3 }))
  .map(([lines, others, mutations]) => mutate(`${lines.join('\n')}\n`, `${others.join('\n')}\n`, mutations))
  .filter((text) => text.length < 20_000);
