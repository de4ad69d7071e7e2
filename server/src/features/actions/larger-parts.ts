import { type MigProfile, migTable, usableCardGiB } from '../../catalog/index.ts';
import { type MigOption, migOptions } from '../../cost/mig-options.ts';
import { formatHourly, formatNumber } from '../../cost/money.ts';
import { wholeCards } from '../../memory/fit.ts';
import { servedModel } from '../../model/served-model.ts';
import { sliceFormOf, toLargerShare, toLargerSlice, toWholeGpu } from '../../rewrite/larger.ts';
import { type Fraction, shareWords, sliceSign, sliceWords } from './fraction.ts';
import { devicesOf, heldBy, holds, oneSlice, type Part, perGpu, type Resizable, type Sized } from './resizable.ts';

/** The smallest part that is large enough, and the whole card if it is known. */
export function largerParts(place: Resizable, part: Part): Fraction[] {
  const { document, request, container, podSet } = place;
  const reserved = servedModel(container, place.workload).model;
  const slicePlace = { document: document.document, request, container, podSet };
  const form = sliceFormOf(request, podSet);
  const slices = nextSlice(place, part).map(
    (option): Fraction => ({
      ...largerSliceWords(place, part, option),
      ...(form && { sign: sliceSign(form, option.profile) }),
      edits: () => form && toLargerSlice(slicePlace, option.profile, form),
    }),
  );
  const shares = nextShare(place, part).map(
    ({ words, pods, mebibytes }): Fraction => ({
      ...words,
      id: 'larger share',
      needs: null,
      edits: () => {
        const { engine } = place.served;
        return toLargerShare(slicePlace, { share: 1 / pods, mebibytes, engine });
      },
    }),
  );
  const whole = wholeCard(place, part).map(
    (words): Fraction => ({
      ...words,
      edits: () => toWholeGpu({ ...slicePlace, server: part.kind === 'mig' ? null : reserved, part: part.kind }),
    }),
  );
  return [...slices, ...shares, ...whole];
}

/** The smallest larger slice, if the part is one. */
export function nextSlice(place: Sized, { kind, cards }: Part): readonly MigOption[] {
  const sizes = (kind === 'mig' ? cards : [])
    .flatMap(({ id }) => migOptions(id, hourlyOf(place, cards)))
    .filter(({ profile, share }) => share < 1 && holds(place, place.served, oneSlice(profile)))
    .sort((a, b) => a.profile.memoryGiB - b.profile.memoryGiB || a.share - b.share);
  return sizes.slice(0, 1);
}

export function largerSliceWords(place: Sized, { cards }: Part, option: MigOption): Omit<Fraction, 'edits'> {
  const isEverywhere = ({ name }: MigProfile) =>
    cards.every(({ id }) => migTable(id)?.profiles.some((one) => one.name === name));
  return { ...sliceWords(place, option), needs: isEverywhere(option.profile) ? null : 'a GPU model with such slices' };
}

/** A larger share of a GPU of which a request states the part. */
export interface LargerShare {
  readonly words: Pick<Fraction, 'label' | 'description' | 'hourly'>;
  /** The pods for which the GPU is large enough. */
  readonly pods: number;
  readonly mebibytes: number;
}

/** The smallest larger share, if the request states its part of the memory or of the GPU. */
export function nextShare(place: Sized, { kind, memoryGiB, cards }: Part): readonly LargerShare[] {
  const [card] = cards;
  const cardGiB = card === undefined ? null : usableCardGiB(card);
  if (kind !== 'counted' && kind !== 'annotated') return [];
  if (card === undefined || cardGiB === null) return [];
  const share = (count: number) => devicesOf(card, kind, cardGiB / count);
  const pods = [8, 5, 4, 3, 2].find(
    (count) => cardGiB / count > memoryGiB * 1.05 && holds(place, place.served, share(count)),
  );
  if (pods === undefined) return [];
  const all = hourlyOf(place, cards);
  const hourly = all && { min: all.min / pods, max: all.max / pods };
  const mebibytes = Math.floor((cardGiB * 1024) / pods / 100) * 100;
  const label = `${formatNumber(mebibytes)} MiB of the GPU`;
  const description = `${heldBy(place, share(pods))}${shareWords(hourly, 'shares')}`;
  return [{ words: { label, description, hourly }, pods, mebibytes }];
}

/** The whole card, if it is known and large enough. */
export function wholeCard(place: Sized, { cards }: Part): readonly Omit<Fraction, 'edits'>[] {
  const [only, ...others] = cards;
  const card = only === undefined || others.length > 0 ? null : wholeCards(only);
  if (only === undefined || card === null || !holds(place, place.served, card)) return [];
  const hourly = hourlyOf(place, cards);
  const price = hourly === null ? '' : `, ${formatHourly(hourly)}`;
  const description = `${heldBy(place, card)}${price}`;
  return [{ id: 'whole', label: `1 × ${only.name}`, description, needs: null, hourly }];
}

/** The price of the whole card; null if the card is unknown. */
function hourlyOf(place: Sized, cards: Part['cards']) {
  return cards.length > 1 ? null : perGpu(place);
}
