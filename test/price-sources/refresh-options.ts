import { allInstanceTypes } from '../../server/src/catalog/index.ts';
import {
  type RefreshOptions,
  type RefreshResult,
  refresh,
  type SourceId,
} from '../../server/src/price-sources/refresh.ts';
import { temporaryFolder } from '../cli/run-cli.ts';
import type { PriceServer } from '../support/price-server.ts';

/** Options of a refresh that asks a local server, and never waits. */
export function optionsFor(
  source: SourceId,
  { mirror }: Pick<PriceServer, 'mirror'>,
  other: Partial<RefreshOptions> = {},
): RefreshOptions {
  return {
    sources: [source],
    machines: allInstanceTypes(),
    regions: [],
    usualAwsRegions: ['us-east-1'],
    today: '2026-11-22',
    gcpKey: 'a-key',
    folder: temporaryFolder(),
    mirror,
    signal: new AbortController().signal,
    progress: () => undefined,
    wait: async () => undefined,
    ...other,
  };
}

export async function resultOf(options: RefreshOptions): Promise<RefreshResult> {
  for await (const result of refresh(options)) return result;
  throw new Error('a refresh without a source');
}

/** `p5.48xlarge us-east-1 on-demand 55.04`. */
export function shown({ prices }: RefreshResult): readonly string[] {
  return prices.map(({ instanceType, region, pricing, hourly }) => `${instanceType} ${region} ${pricing} ${hourly}`);
}
