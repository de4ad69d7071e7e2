import type { FileAnalysis } from '../analysis.ts';
import { type GpuModel, gpus, type PriceSheet, providerName } from '../catalog/index.ts';
import { configName, normalizeUri } from '../config/places.ts';
import { listPrices } from '../cost/custom-prices.ts';
import { gpuPrices, priceRange } from '../cost/gpu-prices.ts';
import { formatHourly, formatNumber } from '../cost/money.ts';
import {
  describeSlice,
  heldModel,
  migGpus,
  type Sliceable,
  sliceableRequests,
  sliceFix,
  slicesOf,
} from '../features/actions/mig-picker.ts';
import { platformChoices } from '../features/actions/platform-choices.ts';
import { budgetOfAnswer } from '../features/actions/proof.ts';
import { setConfigEdits } from '../features/actions/set-config.ts';
import { isRegion } from '../features/hover/gpu-words.ts';
import { possibleGpus } from '../features/possible-gpus.ts';
import { costLines } from '../features/report.ts';
import type { Fit } from '../memory/fit.ts';
import { ruleIds } from '../rules/index.ts';
import type { ConfinedHost } from './confined-host.ts';
import { guard } from './guard.ts';
import {
  type CostsParams,
  type CostsResult,
  type EditResult,
  type GpuItem,
  type GpusParams,
  type GpusResult,
  type MigChoicesParams,
  type MigChoicesResult,
  methods,
  type PlaceParams,
  type PlatformsResult,
  type RewriteToMigParams,
  type RuleIdsResult,
  type SetGpuParams,
} from './protocol.ts';
import type { Session } from './session.ts';
import { editsToLsp, lineIndex, linesOf } from './to-lsp.ts';

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
    guard<GpusParams, GpusResult>(log, methods.gpus, [], async ({ uri }) => {
      const found = uri === undefined ? undefined : await session.analyzed(uri);
      return toGpuItems(found === undefined ? [...gpus.values()] : possibleGpus(found.file), projects.sheet());
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
      if (sliceable === undefined) return null;
      const gpu = params.gpu === undefined ? sliceable.gpu : gpus.get(params.gpu);
      if (gpu === undefined) return { gpu: null, gpus: toGpuItems(migGpus(), projects.sheet()), profiles: [] };
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
        return { problem: 'There is no longer a whole-GPU request here.' };
      }
      const option = slicesOf(gpu, sliceable).find(({ profile }) => profile.name === params.profile);
      const fix = option && sliceFix(sliceable, option.profile, gpu, budgetOfAnswer());
      if (fix === undefined) return { problem: 'This request cannot be rewritten without breaking the file.' };
      return { edit: editsToLsp(fix.edits, found.document, linesOf(found.file), session.client) };
    }),
  );

  connection.onRequest<EditResult, void>(
    methods.setGpu,
    guard<SetGpuParams, EditResult>(log, methods.setGpu, failed, async ({ uri, ...values }) => {
      const config = await projects.configFileOf(uri);
      if (config === undefined) return { problem: 'Open a folder first: gpulint stores the GPU in its .gpulint.yaml.' };
      if (values.gpu !== null && !gpus.has(values.gpu)) return { problem: `The catalog has no GPU ${values.gpu}.` };
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
const fits: readonly Fit[] = ['fits', 'short-requests', 'too-small'];

const failed: EditResult = { problem: 'Something went wrong. The gpulint output shows the error.' };

/** GPUs sorted by the number of providers that sell them, because users most likely want a common one, then by name. */
function toGpuItems(models: readonly GpuModel[], sheet: PriceSheet): readonly GpuItem[] {
  const priced = models.map((gpu) => gpuPrices(gpu, undefined, { ...listPrices, sheet }));
  return priced
    .sort((a, b) => b.byProvider.length - a.byProvider.length || (a.gpu.name < b.gpu.name ? -1 : 1))
    .map((one): GpuItem => {
      const range = priceRange(one);
      const memory = one.gpu.memoryGiB === null ? [] : [`${formatNumber(one.gpu.memoryGiB)} GB`];
      return {
        id: one.gpu.id,
        name: one.gpu.name,
        description: [...memory, range === null ? 'price unknown' : formatHourly(range)].join(' · '),
        providers: one.byProvider.map(({ provider, hourly, region }) => ({
          id: provider,
          name: providerName(provider),
          description: `${formatHourly(hourly)}${isRegion(region) ? ` in ${region}` : ''}`,
        })),
      };
    });
}
