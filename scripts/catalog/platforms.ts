import { byText, type CommitDates, clean, dateOf, SourceTable } from './sources.ts';

interface Fact {
  readonly value: unknown;
  readonly source: string;
}

const providers: readonly (readonly [prefix: string, provider: string])[] = [
  ['gke', 'gcp'],
  ['eks', 'aws'],
  ['aks', 'azure'],
  ['oke', 'oci'],
  ['coreweave', 'coreweave'],
];
const pick = { spotLabels: 'spot_labels', spotNoticeSeconds: 'spot_notice_seconds', nodePoolLabels: 'node_pool_label' };

export function platformFile(
  facts: { readonly platforms: Readonly<Record<string, Record<string, Fact>>> },
  dates: CommitDates,
) {
  const sources = new SourceTable();
  const platforms = Object.entries(facts.platforms)
    .sort(([a], [b]) => byText(a, b))
    .map(([name, platform]) => {
      const known = Object.entries(pick).filter(([, key]) => platform[key] !== undefined);
      const texts = known.map(([field, key]) => [field, clean(platform[key]?.source ?? '')] as const);
      return {
        id: name.replaceAll('_', '-'),
        provider: providers.find(([prefix]) => name.startsWith(prefix))?.[1] ?? null,
        spotLabels: spotLabels(textsOf(platform.spot_labels)),
        spotNoticeSeconds: platform.spot_notice_seconds?.value ?? null,
        nodePoolLabels: textsOf(platform.node_pool_label).filter((text) => /^[\w./-]+$/.test(text)),
        sources: Object.fromEntries(texts.map(([field, text]) => [field, sources.refer(text)])),
        date: dateOf(texts.map(([, text]) => text).join('; '), dates),
      };
    });
  return { sources: sources.toJSON(), platforms };
}

function textsOf(fact: Fact | undefined): readonly string[] {
  if (fact === undefined) return [];
  return (Array.isArray(fact.value) ? fact.value : [fact.value]).map(String);
}

/** Parses 'cloud.google.com/gke-spot=true (old)' and 'karpenter.sh/capacity-type = spot | on-demand'; keeps the values that mean spot. */
function spotLabels(texts: readonly string[]): Record<string, readonly string[]> {
  const found: [string, readonly string[]][] = [];
  for (const text of texts) {
    const match = /^([\w.-]+\/[\w.-]+)(?:\s*=\s*([\w-]+(?:\s*\|\s*[\w-]+)*))?/.exec(text);
    if (match?.[1] === undefined) continue;
    const values = (match[2] ?? 'spot').split('|').map((value) => value.trim());
    found.push([match[1], values.filter((value) => /^(spot|true)$/i.test(value))]);
  }
  return Object.fromEntries(found.sort(([a], [b]) => byText(a, b)));
}
