/** What kustomize reads a field as. */
export type FormOfField =
  | { readonly form: 'any' }
  | { readonly form: 'text' }
  | { readonly form: 'count' }
  | { readonly form: 'list'; readonly of: FormOfField }
  | { readonly form: 'map'; readonly of: FormOfField }
  | { readonly form: 'object'; readonly type: string };

const any: FormOfField = { form: 'any' };
const count: FormOfField = { form: 'count' };
const text: FormOfField = { form: 'text' };
const texts: FormOfField = { form: 'list', of: text };
const anything: FormOfField = { form: 'list', of: any };
const named: FormOfField = { form: 'map', of: text };
const listOf = (type: string): FormOfField => ({ form: 'list', of: { form: 'object', type } });

/**
 * The types of a kustomization, by the names that messages give them. Plugins of kustomize decide about other types.
 * https://github.com/kubernetes-sigs/kustomize/tree/master/api/types
 */
const types = new Map(
  Object.entries({
    kustomization: {
      ...{ apiVersion: text, kind: text, metadata: any, openapi: any, sortOptions: any, inventory: any },
      ...{ namePrefix: text, nameSuffix: text, namespace: text },
      ...{ commonLabels: named, commonAnnotations: named, labels: listOf('label') },
      ...{ resources: texts, components: texts, bases: texts, crds: texts, configurations: texts },
      ...{ generators: texts, transformers: texts, validators: texts, buildMetadata: texts },
      ...{ patchesStrategicMerge: texts, patches: listOf('patch'), patchesJson6902: listOf('patch') },
      ...{ images: listOf('image'), imageTags: listOf('image'), replicas: listOf('replica') },
      ...{ replacements: anything, vars: anything, helmCharts: anything, helmChartInflationGenerator: anything },
      ...{ configMapGenerator: listOf('generator'), secretGenerator: listOf('generator') },
      ...{ generatorOptions: any, helmGlobals: any },
    },
    label: { pairs: named, includeSelectors: any, includeTemplates: any, fields: any },
    patch: { path: text, patch: text, target: any, options: any },
    image: { name: text, newName: text, newTag: text, tagSuffix: text, digest: text },
    replica: { name: text, count },
    generator: {
      ...{ name: text, namespace: text, behavior: text, literals: texts, files: texts, envs: texts, env: text },
      ...{ options: any, type: text, kvSources: any },
    },
  }).map(([type, fields]) => [type, new Map<string, FormOfField>(Object.entries(fields))]),
);

/** The fields of each type by their names in lowercase: Go reads them without regard to case. */
const forms = new Map(
  [...types].map(([type, fields]) => [type, new Map([...fields].map(([name, form]) => [name.toLowerCase(), form]))]),
);

/** What a field holds; undefined if kustomize does not know it. */
export function fieldOf(type: string, name: string): FormOfField | undefined {
  return forms.get(type)?.get(name.toLowerCase());
}

/** The names of a type's fields. */
export function fieldsOf(type: string): readonly string[] {
  return [...(types.get(type)?.keys() ?? [])];
}

/** Whether the fields of a type are all known. */
export function checksFields(type: string): boolean {
  return types.has(type);
}
