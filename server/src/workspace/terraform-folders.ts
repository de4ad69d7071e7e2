import type { Provider } from '../catalog/index.ts';
import { normalizeUri } from '../config/places.ts';
import { clusterKinds } from '../evidence/cluster-places.ts';
import { type Field, type Fields, isFields, isTemplateText } from '../evidence/fields.ts';
import { regionIn } from '../evidence/pool-fields.ts';
import { copiesOfModule, localOfEach, nameOfEach } from '../evidence/terraform-copies.ts';
import { placeBy, type TerraformBlock, type TerraformRegion, terraformPoolsOf } from '../evidence/terraform-pools.ts';
import {
  commonValues,
  type FolderStatement,
  filledWith,
  isVariables,
  noValues,
  type TerraformModule,
  type TerraformStatements,
  type TerraformValues,
  valuesOfFolder,
} from '../evidence/terraform-values.ts';
import type { CloudSign } from '../model/cloud-sign.ts';
import type { NodePool } from '../model/node-pool.ts';
import { factsAs } from './named.ts';
import { terraformKind, terraformRegionKind, terraformValuesKind } from './terraform.ts';
import { poolsWith } from './terraform-manifests.ts';
import { folderAt, folderOf, terragruntFiles } from './terragrunt-files.ts';
import { anyObject, type Found, type Workspace } from './workspace.ts';

// The files of a folder of Terraform are one module: they share its values and the regions of its clusters and providers.

/** The kinds under which the workspace stores what Terraform's files state. */
export const terraformKinds = [terraformKind, terraformRegionKind, terraformValuesKind] as const;

/** What the files of each folder state. */
export interface TerraformFolders {
  valuesOf(folder: string): TerraformValues;
  /** The values of each copy of a module: those of each block that uses it, and of each copy of such a block that the files state. */
  copiesOf(folder: string): readonly TerraformCopy[];
  /** Whether the pools of a block are those of the module that it uses, which says more. */
  isModule(folder: string, parent: Fields | null): boolean;
  /** Whether a node group of another file has the machine that a block names: they are one pool. */
  isTemplate(folder: string, block: string): boolean;
  /** What a unit of Terragrunt passes on, with what it includes. @param key of its file */
  inputsOf(key: string, own: Fields): Fields;
  /** Whether each pool of a local value is one of a node group or a module, which says more. */
  isCopied(folder: string, local: string): boolean;
  /** The zone or region of a cloud's clusters; null if it is unknown. @param from the folder that uses the module */
  placeOf(folder: string, cloud: Provider, from?: string): string | null;
}

/** A copy of a module. */
interface TerraformCopy {
  readonly values: TerraformValues;
  /** The folder whose block makes it. */
  readonly from?: string;
}

/** The pools that a block of Terraform describes, if they have GPUs, with the values and in the place that the files of its folder state. */
export function terraformPools({ key, object }: Found, folders: TerraformFolders): readonly NodePool[] {
  const block = factsAs(object, 'terraform');
  const folder = folderOf(key);
  const template = factsAs(object, 'poolTemplate');
  if (template) return folders.copiesOf(folder).flatMap(({ values }) => poolsWith(template, values));
  if (block && folders.isTemplate(folder, block.block)) return [];
  if (block?.local !== undefined && folders.isCopied(folder, block.local)) return [];
  if (!block || folders.isModule(folder, block.parent)) return [];
  const whole = block.isUnit ? { ...block, fields: folders.inputsOf(key, block.fields) } : block;
  return folders
    .copiesOf(folder)
    .flatMap(({ values, from }) => terraformPoolsOf(whole, values, (cloud) => folders.placeOf(folder, cloud, from)));
}

/** The cloud of all clusters, and their region if all are in one. Their files state no GPU pools, or no place of them. */
export function cloudOfClusters(workspace: Workspace): CloudSign | undefined {
  const clusters = [terraformRegionKind, ...clusterKinds].flatMap((kind) =>
    workspace.objects(kind, anyObject, '').all.flatMap(({ key, object }) => {
      const stated = (factsAs(object, 'regions') ?? []).filter(({ by }) => by === 'cluster');
      return stated.map((one) => ({ ...one, folder: folderOf(key), kind, name: object.name }));
    }),
  );
  const [first] = clusters;
  const [provider, ...others] = new Set(clusters.map(({ cloud }) => cloud));
  if (first === undefined || provider === undefined || others.length > 0) return undefined;
  const { placeOf } = terraformFolders(workspace);
  const places = clusters.map(({ kind, folder, place }) =>
    kind === terraformRegionKind ? placeOf(folder, provider) : regionIn([typeof place === 'string' ? place : null]),
  );
  const text = first.kind === terraformRegionKind ? 'cluster in Terraform' : `${first.kind} ${first.name}`;
  const mode = clusters.every(({ isAutopilot }) => isAutopilot) ? ({ isAutopilot: true } as const) : {};
  return { provider, region: regionIn([...new Set(places)]), text, ...mode };
}

/** A use of a module. */
interface Use {
  readonly from: string;
  readonly variables: TerraformModule['variables'];
  /** Of the file. */
  readonly key: string;
}

/** Modules that use modules, and so on: more levels are a circle. */
const maxLevels = 5;

/** A module that more folders use has no single region, and no values from them. */
const maxUses = 4;

/** Modules of pools that more blocks use are generated. */
const maxCopied = 40;

const known = new WeakMap<Workspace, { readonly stamp: number; readonly folders: TerraformFolders }>();

/** What files of Terraform state about regions and values. */
export function terraformFolders(workspace: Workspace): TerraformFolders {
  const stamp = workspace.stampOf(terraformKinds);
  const before = known.get(workspace);
  if (before?.stamp === stamp) return before.folders;
  const folders = readFolders(workspace);
  known.set(workspace, { stamp, folders });
  return folders;
}

/** The variables and local values of the folder of a file. */
export function terraformValuesAt(workspace: Workspace, uri: string): TerraformValues {
  return terraformFolders(workspace).valuesOf(folderOf(normalizeUri(uri)));
}

/** The same for each copy of the folder, if it is a module. A number of copies that the files do not state is one. */
export function terraformCopiesAt(workspace: Workspace, uri: string): readonly TerraformValues[] {
  return terraformFolders(workspace)
    .copiesOf(folderOf(normalizeUri(uri)))
    .flatMap(({ values }) => {
      const count = values.get('var.count');
      return typeof count === 'string' && /^\d{1,2}$/.test(count) ? Array(Number(count)).fill(values) : values;
    });
}

function readFolders(workspace: Workspace): TerraformFolders {
  const regions = new Map<string, TerraformRegion[]>();
  for (const { key, object } of workspace.objects(terraformRegionKind, anyObject, '').all)
    for (const one of factsAs(object, 'regions') ?? []) addTo(regions, folderOf(key), one);
  const files = terraformKinds.flatMap((kind) => workspace.objects(kind, anyObject, '').all);
  const groups = files.map(({ key, object }) => {
    const machine = factsAs(object, 'terraform')?.fields.get('instance_types') ?? null;
    return isTemplateText(machine) ? `${folderOf(key)} ${machine.template}` : '';
  });
  const used = new Set(groups);
  const blocks = files.flatMap(({ key, object }) => {
    const block = factsAs(object, 'terraform');
    return block ? [{ folder: folderOf(key), fields: block.fields, block }] : [];
  });
  const blocksIn = new Map<string, TerraformBlock[]>();
  for (const { folder, block } of blocks) addTo(blocksIn, folder, block);
  const pools = blocks.filter(({ block }) => block.parent === null);
  const ofPools = new Set(pools.map(({ folder }) => folder));
  /** The variables of which the pools of a module are copied, or the module itself. */
  const variablesOfPools = new Map<string, string[]>();
  for (const { folder, fields } of pools)
    for (const name of ['var.for_each', nameOfEach(fields)]) if (name) addTo(variablesOfPools, folder, name);
  /** For each local value that is copied, the folder of the module, null for a pool's, and what it is copied by. */
  const copied = new Map<string, { readonly by: string | null; readonly each: Field }>(
    pools.map(({ folder, fields }) => [
      `${folder} ${localOfEach(fields) ?? ''}`,
      { by: null, each: fields.get('for_each') ?? null },
    ]),
  );
  const folders = new Set(files.filter(({ fileName }) => !isVariables(fileName)).map(({ key }) => folderOf(key)));
  const elsewhere: TerraformStatements[] = [];
  const stated = new Map<string, FolderStatement[]>();
  const uses = new Map<string, Use[]>();
  const units = new Map<string, TerraformStatements>();
  for (const { key, fileName, object } of workspace.objects(terraformValuesKind, anyObject, '').all) {
    const facts = factsAs(object, 'values');
    if (!facts) continue;
    const from = folderOf(key);
    if (isVariables(fileName) && !folders.has(from)) {
      elsewhere.push(facts);
      continue;
    }
    addTo(stated, from, { fileName, facts });
    if (facts.unit !== undefined) units.set(key, facts);
    for (const { source, variables } of facts.modules) {
      const folder = folderAt(from, source);
      addTo(uses, folder, { from, variables, key });
      const passed = new Map(variables);
      for (const variable of variablesOfPools.get(folder) ?? [])
        copied.set(`${from} ${localOfEach(passed, variable) ?? ''}`, {
          by: folder,
          each: passed.get(variable) ?? null,
        });
    }
  }
  const loose = commonValues(elsewhere);
  const known = new Map<string, TerraformValues>();
  const valuesOf = (folder: string, level = 0): TerraformValues => {
    const before = known.get(folder);
    if (before !== undefined) return before;
    // A folder in a circle of modules has no values.
    known.set(folder, noValues);
    const users = uses.get(folder) ?? [];
    const passed =
      users.length > maxUses
        ? [new Map(users.flatMap(({ variables }) => variables.map(([name]) => [name, null] as const)))]
        : users.map(({ from, variables, key }) => {
            const own = level < maxLevels ? valuesOf(from, level + 1) : noValues;
            const filled = variables.map(([name, value]) => [name, filledWith(value, own)] as const);
            return level < maxLevels ? merged(key, filled, 'var.') : new Map(filled);
          });
    const values = valuesOfFolder([...(stated.get(folder) ?? []), ...readIn(folder)], passed, loose);
    known.set(folder, values);
    return values;
  };
  const { readIn, merged } = terragruntFiles(units, (folder) => valuesOf(folder));
  const copiesKnown = new Map<string, readonly TerraformCopy[]>();
  const copiesOf = (folder: string): readonly TerraformCopy[] => {
    const copies = copiesKnown.get(folder) ?? copiesIn(folder);
    copiesKnown.set(folder, copies);
    return copies;
  };
  const copiesIn = (folder: string): readonly TerraformCopy[] => {
    const users = uses.get(folder) ?? [];
    if (users.length === 0 || users.length > maxCopied) return [{ values: valuesOf(folder) }];
    return users.flatMap(({ from, variables, key }) => {
      const own = valuesOf(from);
      const copies = copiesOfModule(variables, own, ofPools.has(folder));
      if (copies.length === 0 && users.length === 1) return { values: valuesOf(folder), from };
      const single = () =>
        merged(
          key,
          variables.map(([name, value]) => [name, filledWith(value, own)] as const),
          'var.',
        );
      return (copies.length > 0 ? copies : [single()]).map((copy) => ({
        values: valuesOfFolder(stated.get(folder) ?? [], [copy], loose),
        from,
      }));
    });
  };
  // A module without a provider has that of the folder that uses it.
  const placesKnown = new Map<string, string | null>();
  const placeOf = (folder: string, cloud: Provider, level = 0): string | null => {
    const place = `${cloud} ${folder}`;
    const before = placesKnown.get(place);
    if (before !== undefined) return before;
    // A circle of modules has no place.
    placesKnown.set(place, null);
    const found = placeIn(folder, cloud, level);
    placesKnown.set(place, found);
    return found;
  };
  const placeIn = (folder: string, cloud: Provider, level: number): string | null => {
    const own = (regions.get(folder) ?? []).filter((one) => one.cloud === cloud);
    if (own.length > 0 || level >= maxLevels) return placeBy(own, cloud, valuesOf(folder));
    const users = uses.get(folder) ?? [];
    if (users.length > maxUses) return null;
    const [place = null, ...others] = new Set(users.map(({ from }) => placeOf(from, cloud, level + 1)));
    return others.length > 0 ? null : place;
  };
  const modulesKnown = new Map<string, boolean>();
  /** Whether a module makes pools for each block of a folder that uses it. */
  const isMadeIn = (module: string, folder: string): boolean => {
    const inside = blocksIn.get(module) ?? [];
    if (inside.length === 0) return false;
    const copies = copiesOf(module).filter(({ from }) => from === folder);
    const isMade = ({ values }: TerraformCopy) => inside.some((one) => terraformPoolsOf(one, values).length > 0);
    return copies.length > 0 && copies.every(isMade);
  };
  // Pools whose machines are computed are known by the local value only.
  const made = new Map<string, boolean>();
  const makesPools = (folder: string): boolean => {
    const before = made.get(folder);
    if (before !== undefined) return before;
    const own = pools.filter((one) => one.folder === folder);
    const found = own.some(({ block }) =>
      copiesOf(folder).some(({ values }) => terraformPoolsOf(block, values).length > 0),
    );
    made.set(folder, found);
    return found;
  };
  return {
    valuesOf: (folder) => valuesOf(folder),
    copiesOf,
    isTemplate: (folder, block) => used.has(`${folder} \${${block}.instance_type}`),
    inputsOf: (key, own) => merged(key, own),
    isCopied: (folder, local) => {
      const { by, each } = copied.get(`${folder} ${local}`) ?? {};
      if (by === undefined || each === undefined || (by !== null && uses.get(by)?.length !== 1)) return false;
      const written = filledWith(each, valuesOf(folder));
      // A module may make a mapping of a list.
      return (isFields(written) || (by !== null && Array.isArray(written))) && makesPools(by ?? folder);
    },
    isModule: (folder, parent) => {
      const source = parent?.get('source');
      if (typeof source !== 'string' || !source.startsWith('.')) return false;
      const target = folderAt(folder, source);
      const use = `${folder} ${target}`;
      const known = modulesKnown.get(use) ?? (target !== folder && isMadeIn(target, folder));
      modulesKnown.set(use, known);
      return known;
    },
    placeOf: (folder, cloud, from) => {
      const own = placeOf(folder, cloud);
      return own ?? (from === undefined ? null : placeOf(from, cloud));
    },
  };
}

function addTo<T>(found: Map<string, T[]>, folder: string, one: T): void {
  const before = found.get(folder);
  if (before === undefined) found.set(folder, [one]);
  else before.push(one);
}
