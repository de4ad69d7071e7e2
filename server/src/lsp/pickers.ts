import type { FileAnalysis } from '../analysis.ts';
import { type GpuModel, gpus, providerName } from '../catalog/index.ts';
import { configName, normalizeUri } from '../config/places.ts';
import { listPrices, type OwnPrices } from '../cost/custom-prices.ts';
import { anywhere, gpuPrices, priceRange } from '../cost/gpu-prices.ts';
import { formatHourly, formatNumber } from '../cost/money.ts';
import {
  describeSlice,
  heldModel,
  migGpus,
  type Sliceable,
  type SliceFit,
  sliceableRequests,
  sliceFix,
  slicesOf,
} from '../features/actions/mig-picker.ts';
import { platformChoices } from '../features/actions/platform-choices.ts';
import { budgetOfAnswer } from '../features/actions/proof.ts';
import { type ChosenValues, setConfigEdits } from '../features/actions/set-config.ts';
import { acceleratedWorkloads, isRegion } from '../features/hover/gpu-words.ts';
import { possibleGpus } from '../features/possible-gpus.ts';
import { costLines } from '../features/report.ts';
import { modelKey } from '../model/options.ts';
import type { Placement } from '../model/workload.ts';
import { ruleIds } from '../rules/index.ts';
import type { ConfinedHost } from './confined-host.ts';
import { failedWords, guard } from './guard.ts';
import { lineIndex, linesOf } from './line-index.ts';
import {
  type CostsParams,
  type CostsResult,
  type EditResult,
  type GpuItem,
  type GpusParams,
  type GpusResult,
  type MigChoicesParams,
  type MigChoicesResult,
  type ModelKey,
  methods,
  type PlaceParams,
  type PlatformsResult,
  type RewriteToMigParams,
  type RuleIdsResult,
  type SetGpuParams,
  type SetGpuResult,
  type SettingValue,
} from './protocol.ts';
import type { Session } from './session.ts';
import { editsToLsp } from './to-lsp.ts';

/** The requests behind the client's pickers. */
export function registerPickers(session: Session, host: ConfinedHost): void {
  const { connection, log, projects, documents } = session;

  connection.onRequest(
    methods.costs,
    guard<CostsParams, CostsResult>(log, methods.costs, [], async ({ uri }) => {
      const found = await session.analyzed(uri);
      if (found === undefined) return [];
      const lines = linesOf(found.file);
      return costLines(found.file).map(({ label, description, offset }) => ({
        label,
        description,
        position: lines.toPosition(offset),
      }));
    }),
  );

  connection.onRequest(
    methods.gpus,
    guard<GpusParams, GpusResult>(log, methods.gpus, { gpus: [], provider: null, keys: [] }, async (params) => {
      const found = params.uri === undefined ? undefined : await session.analyzed(params.uri);
      const config = found?.file.config;
      const provider = params.provider ?? config?.provider ?? null;
      const region = params.region ?? (params.provider == null ? config?.region : null) ?? null;
      const models = found === undefined ? [...gpus.values()] : possibleGpus(found.file);
      const asked = params.key === undefined ? models : models.filter(({ vendor }) => modelKey(vendor) === params.key);
      return {
        gpus: toGpuItems(asked, { provider, region }, config?.prices ?? { ...listPrices, sheet: projects.sheet() }),
        provider,
        keys: params.key === 'gpu' ? await openKeys() : [],
      };
    }),
  );

  connection.onRequest(
    methods.ruleIds,
    guard<object, RuleIdsResult>(log, methods.ruleIds, [], () => ruleIds),
  );

  connection.onRequest(
    methods.platforms,
    guard<object, PlatformsResult>(log, methods.platforms, [], () => platformChoices(projects.sheet())),
  );

  connection.onRequest(
    methods.migChoices,
    guard<MigChoicesParams, MigChoicesResult | null>(log, methods.migChoices, null, async (params) => {
      const found = await session.analyzed(params.uri);
      const sliceable = found && sliceableIn(found.file, params);
      if (found === undefined || sliceable === undefined) return null;
      const { config } = found.file;
      const gpu = params.gpu === undefined ? sliceable.gpu : gpus.get(params.gpu);
      if (gpu === undefined) return { gpu: null, gpus: toGpuItems(migGpus(), config, config.prices), profiles: [] };
      const held = heldModel(sliceable);
      const budget = budgetOfAnswer();
      const profiles = slicesOf(gpu, sliceable)
        .filter(({ profile }) => sliceFix(sliceable, profile, gpu, budget) !== undefined)
        .map((option) => ({ option, fit: held?.fit(option.profile) }))
        // Profiles that fit the model come first, because Enter selects the first item.
        .sort((a, b) => fits.indexOf(a.fit ?? 'fits') - fits.indexOf(b.fit ?? 'fits'))
        .map(({ option }) => ({ profile: option.profile.name, description: describeSlice(option, held) }));
      return { gpu: { id: gpu.id, name: gpu.name }, gpus: [], profiles };
    }),
  );

  connection.onRequest<EditResult, void>(
    methods.rewriteToMig,
    guard<RewriteToMigParams, EditResult>(log, methods.rewriteToMig, failed, async (params) => {
      const found = await session.analyzed(params.uri);
      const sliceable = found && sliceableIn(found.file, params);
      const gpu = gpus.get(params.gpu);
      if (found === undefined || sliceable === undefined || gpu === undefined) {
        return { problem: 'This whole-GPU request no longer exists.' };
      }
      const option = slicesOf(gpu, sliceable).find(({ profile }) => profile.name === params.profile);
      const fix = option && sliceFix(sliceable, option.profile, gpu, budgetOfAnswer());
      if (fix === undefined) return { problem: 'This request cannot be rewritten without breaking the file.' };
      return { edit: editsToLsp(fix.edits, found.document, linesOf(found.file), session.client) };
    }),
  );

  connection.onRequest<SetGpuResult, void>(
    methods.setGpu,
    guard<SetGpuParams, SetGpuResult>(log, methods.setGpu, failed, async ({ uri, ...values }) => {
      const config = uri === null ? undefined : await projects.configFileOf(uri);
      const unknown = [values.gpu, values.neuron, values.tpu, values.gaudi].find((id) => id != null && !gpus.has(id));
      if (unknown != null) return { problem: `The catalog has no GPU ${unknown}.` };
      if (config === undefined) return { settings: settingsOf(values) };
      const { text, ...target } = await currentText(config);
      if (text === undefined && host.isDenied(config))
        return { problem: `${configName} cannot be read. The gpulint output shows the reason.` };
      const edits = setConfigEdits(text ?? '', values);
      if (edits === undefined) return { problem: 'The config file has errors. Fix them first.' };
      const edit = editsToLsp(edits, target, lineIndex(text ?? ''), session.client);
      const creation = { kind: 'create', uri: target.uri, options: { ignoreIfExists: true } } as const;
      const withFile = text === undefined && edit.documentChanges !== undefined;
      return {
        edit: withFile ? { documentChanges: [creation, ...(edit.documentChanges ?? [])] } : edit,
        file: target.uri,
      };
    }),
  );

  async function openKeys(): Promise<readonly ModelKey[]> {
    const files = await Promise.all(documents.all().map(({ uri }) => session.analyzed(uri)));
    const open = files
      .flatMap((found) => (found === undefined ? [] : acceleratedWorkloads(found.file)))
      .flatMap(({ workload }) => workload.podSets.flatMap(({ accelerators }) => accelerators))
      .flatMap((accelerator) => accelerator.open?.vendors ?? []);
    return [...new Set(open.map(modelKey))];
  }

  /** The current text of a config, with unsaved or unreported changes; undefined if the file does not exist. */
  async function currentText(
    config: string,
  ): Promise<{ readonly uri: string; readonly text: string | undefined; readonly version: number | null }> {
    const open = documents.all().find(({ uri }) => normalizeUri(uri) === normalizeUri(config));
    if (open !== undefined) return { uri: open.uri, text: open.getText(), version: open.version };
    projects.configChanged(config);
    return { uri: config, text: await host.readFile(config), version: null };
  }
}

/** The request at the position that the user selected. */
function sliceableIn(file: FileAnalysis, { position }: PlaceParams): Sliceable | undefined {
  const offset = linesOf(file).fromPosition(position);
  return sliceableRequests(file, { start: offset, end: offset })[0];
}

/** Best first. */
const fits: readonly SliceFit[] = ['fits', 'close', 'short-requests', 'too-small'];

const failed: EditResult = { problem: failedWords };

/** The values to write, as settings: a value that was not selected keeps what it is. */
function settingsOf(values: ChosenValues): readonly SettingValue[] {
  return Object.entries(values).flatMap(([key, value]) => (value == null ? [] : [{ key, value }]));
}

/**
 * Models that the provider sells first, then those that most providers sell, because users most likely want a common one; then by name.
 * @param where the provider and region whose prices apply, if they are known
 */
function toGpuItems(
  models: readonly GpuModel[],
  where: Pick<Placement, 'provider' | 'region'>,
  own: OwnPrices,
): readonly GpuItem[] {
  const priced = models.map((gpu) => ({
    ...gpuPrices(gpu, { ...anywhere, ...where }, own),
    all: gpuPrices(gpu, undefined, own).byProvider,
  }));
  return priced
    .sort(
      (a, b) =>
        Number(b.byProvider.length > 0) - Number(a.byProvider.length > 0) ||
        b.all.length - a.all.length ||
        (a.gpu.name < b.gpu.name ? -1 : 1),
    )
    .map((one): GpuItem => {
      const range = priceRange(one);
      const memory = one.gpu.memoryGiB === null ? [] : [`${formatNumber(one.gpu.memoryGiB)} GB`];
      const at = where.provider === null ? '' : ` at ${providerName(where.provider)}`;
      const unpriced = one.all.length > 0 && at !== '' ? `no price${at}` : 'price unknown';
      return {
        id: one.gpu.id,
        key: modelKey(one.gpu.vendor),
        name: one.gpu.name,
        description: [...memory, range === null ? unpriced : `${formatHourly(range)}${at}`].join(' · '),
        providers: one.all.map(({ provider, hourly, region }) => ({
          id: provider,
          name: providerName(provider),
          description: `${formatHourly(hourly)}${isRegion(region) ? ` in ${region}` : ''}`,
        })),
      };
    });
}
