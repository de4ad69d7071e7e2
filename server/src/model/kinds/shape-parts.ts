import { wordsOf } from '../../command/name-words.ts';
import { asBoolean, asText, type Cursor, entries, isTemplated, keyOf } from '../../yaml/cursor.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';

/** What a counted GPU is if it is not a whole card. */
export type CardPart = Pick<ImplicitDevices, 'form' | 'profile'>;

/**
 * What a block counts by a plain word, if it says that these are parts of cards: a MIG profile under a key for it (`migProfile: 3g.40gb`), or how
 * cards are shared (`sharing: mps`, `timeSlicing: {enabled: true}`). Undefined for whole cards.
 * @param counted the entry with the number (`gpu: {count: 2, sharing: mig}`, or `gpu: 2` next to `gpuSharing: mig`)
 */
export function partOfCard(counted: Cursor, owner: Cursor | undefined): CardPart | undefined {
  const inBlock = counted.node.kind === 'map' ? entries(counted).map((at) => ({ at, words: wordsOf(keyOf(at)) })) : [];
  const around = entries(owner).flatMap((at) => {
    const words = wordsOf(keyOf(at));
    return at.node !== counted.node && words.some((word) => /^(?:gpus?|accelerators?|mig)$/.test(word))
      ? [{ at, words }]
      : [];
  });
  const found = [...inBlock, ...around].flatMap((entry) => formIn(entry) ?? []);
  // `sharing: exclusive` next to a profile that is kept for later.
  if (found.some((one) => one === 'whole')) return undefined;
  const parts = found.filter((one) => one !== 'whole');
  return parts.find(({ profile }) => profile !== undefined) ?? parts.at(0);
}

interface Entry {
  readonly at: Cursor;
  readonly words: readonly string[];
}

function formIn({ at, words }: Entry): CardPart | 'whole' | undefined {
  if (isTemplated(at)) return undefined;
  const has = (pattern: RegExp) => words.some((word) => pattern.test(word));
  const isSlice = has(/^(?:mig|profile|slice|partition)$/);
  const text = asText(at) ?? '';
  const profile = profileIn(text);
  if (isSlice && profile !== undefined) return { form: 'mig', profile };
  const isOn = asBoolean(at) ?? asBoolean(entries(at).find((entry) => keyOf(entry) === 'enabled'));
  if (isOn !== undefined) {
    if (!isOn) return undefined;
    if (!has(/^mig$/)) return has(/^(?:mps|sharing|shared|slicing)$/) ? { form: 'shared' } : undefined;
    const named = entries(at).flatMap((entry) => profileIn(asText(entry) ?? '') ?? []);
    return { form: 'mig', ...(named[0] !== undefined && { profile: named[0] }) };
  }
  if (!has(/^(?:sharing|share|strategy|mode|allocation|isolation|partitioning)$/)) return undefined;
  const value = wordsOf(text);
  const says = (pattern: RegExp) => value.some((word) => pattern.test(word));
  if (says(/^(?:exclusive|dedicated|whole|full|none|off|disabled)$/)) return 'whole';
  if (says(/^mig$/)) return { form: 'mig' };
  return says(/^(?:mps|slicing|sliced|timeslic\w+|shared|fraction\w*)$/) ? { form: 'shared' } : undefined;
}

/** The MIG profile that a text is: `3g.40gb`, `mig-1g.10gb+me`. */
function profileIn(text: string): string | undefined {
  return /^(?:(?:nvidia\.com\/)?mig-)?(\d+g\.\d+gb(?:\+me(?:\.all)?|\.me)?)$/.exec(text)?.[1]?.replace('+', '.');
}
