import { lazy, oncePerName } from '../yaml/lazy.ts';
import type { CacheLayers, Experts, LatentAttention, ModelShape } from './model-shape.ts';
import { type StoredCache, type StoredModel, storedModels } from './stored.ts';

/** The published names of all models with a shape: first those with a shape of their own, then their copies. */
export const shapeNames = lazy(() => [...storedModels.models, ...storedModels.copies].map((stored) => stored[0]));

/** The shape of a published name. A copy has the name of the model whose shape it has. Most sessions need a few of all. */
export const shapeOfName = oncePerName((name): ModelShape | undefined => {
  const stored = originals().get(name);
  if (stored !== undefined) return toShape(stored);
  const [, base = '', differs] = copies().get(name) ?? [];
  const shape = originals().get(base);
  return shape && withKind({ ...toShape(shape), ...differs });
});

const originals = lazy(() => new Map(storedModels.models.map((stored) => [stored[0], stored])));

const copies = lazy(() => {
  const isOwn = (name: string) => originals().has(name);
  return new Map(storedModels.copies.filter(([, base]) => isOwn(base)).map((stored) => [stored[0], stored]));
});

/** A model that only reads, made of one that writes, keeps no cache unless its attention is causal. */
function withKind(shape: ModelShape): ModelShape {
  return shape.kind === 'language' || shape.cache.length === 0 || shape.kind === 'speech' || shape.causal
    ? shape
    : { ...shape, cache: [] };
}

const billion = 1e9;

function toShape(stored: StoredModel): ModelShape {
  const [name, billions, layers, hidden, feedForward, heads, kvHeads, headSize, vocabulary, context, place, other] =
    stored;
  const [source, date] = storedModels.sources[place] ?? ['', null];
  const { kind = 'language', format = 'bf16', experts, latent, window, encoder = 0, tower = 0 } = other;
  const keeps = kind === 'language' || kind === 'speech' || other.causal === true;
  return {
    name,
    kind,
    parameters: billions * billion,
    active: (other.active ?? billions) * billion,
    layers,
    hidden,
    feedForward,
    feedForwardMatrices: other.ungated ? 2 : 3,
    heads,
    kvHeads,
    headSize,
    vocabulary,
    context,
    tiedEmbeddings: other.tied ?? false,
    experts: experts === undefined ? null : toExperts(experts),
    latent: latent === undefined ? null : toLatent(latent),
    ...(other.chunked && { chunked: true }),
    ...(other.lastLogits && { lastLogits: true }),
    ...(other.causal && { causal: true }),
    ...(other.headsInGguf && { headsInGguf: true }),
    cache: other.cache?.map(toCache) ?? defaultCache({ keeps, layers, kvHeads, headSize, latent, window, encoder }),
    encoderLayers: encoder,
    towerParameters: tower * billion,
    format,
    source,
    date,
  };
}

function toExperts([count, active, width, sharedWidth, layers]: NonNullable<StoredModel[11]['experts']>): Experts {
  return { count, active, width, sharedWidth, layers };
}

function toLatent([query, latent, rope, nope, value]: NonNullable<StoredModel[11]['latent']>): LatentAttention {
  return { query, latent, rope, nope, value };
}

function toCache(stored: StoredCache): CacheLayers {
  const [kind, layers] = stored;
  switch (kind) {
    case 'attention':
      return { kind, layers, kvHeads: stored[2], headSize: stored[3], window: stored[4] ?? null };
    case 'latent':
      return { kind, layers, width: stored[2] };
    case 'state':
      return { kind, layers, numbers: stored[2] };
  }
}

/** Of the layers that a model's fields describe: all of one kind, or a part of them with a window. */
function defaultCache({
  keeps,
  layers,
  kvHeads,
  headSize,
  latent,
  window,
  encoder,
}: {
  readonly keeps: boolean;
  readonly layers: number;
  readonly kvHeads: number;
  readonly headSize: number;
  readonly latent: StoredModel[11]['latent'];
  readonly window: readonly [layers: number, tokens: number] | undefined;
  readonly encoder: number;
}): readonly CacheLayers[] {
  if (layers === 0 || !keeps) return [];
  if (latent !== undefined) return [{ kind: 'latent', layers, width: latent[1] + latent[2] }];
  const attention = (count: number, tokens: number | null): CacheLayers => ({
    kind: 'attention',
    layers: count,
    kvHeads,
    headSize,
    window: tokens,
  });
  const [windowed, tokens] = window ?? [0, 0];
  const full = layers - windowed;
  return [
    ...(full > 0 ? [attention(full, null)] : []),
    ...(windowed > 0 ? [attention(windowed, tokens)] : []),
    // The keys and values of the encoder's output: at most 1,500 frames in Whisper.
    ...(encoder > 0 ? [attention(layers, 1500)] : []),
  ];
}
