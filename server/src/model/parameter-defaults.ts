import { asText, getIn, isTemplated, items, rootCursor } from '../yaml/cursor.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import { type Known, maxValue, type References, withParameters } from './filled-parameters.ts';
import { usesWorkflowParameters, withWorkflowDefaults } from './workflow-defaults.ts';

/** Where the values come from, in words. */
export const parameterDefaults = 'its default parameters';

/** Whether a text may use parameters that it declares. */
export function usesParameters(text: string): boolean {
  return usesWorkflowParameters(text) || isOpenShiftTemplate(text);
}

/** The tree of a document with the defaults of the parameters that it declares; undefined if it has none, and if nothing changes. */
export function withParameterDefaults(document: YamlDocument): YamlNode | undefined {
  return isOpenShiftTemplate(document.text) ? withTemplateDefaults(document) : withWorkflowDefaults(document);
}

/**
 * An OpenShift template has ${NAME} in texts and ${{NAME}} for numbers.
 * https://docs.redhat.com/en/documentation/openshift_container_platform/4.18/html/images/using-templates
 */
function withTemplateDefaults({ root }: YamlDocument): YamlNode | undefined {
  if (root?.kind !== 'map') return undefined;
  const known: Known = new Map(
    items(getIn(rootCursor(root), 'parameters')).flatMap((one) => {
      const [name, value] = [getIn(one, 'name'), getIn(one, 'value')];
      const text = value?.node.kind === 'scalar' && !isTemplated(value) ? value.node.source : undefined;
      const key = asText(name);
      return key === undefined || text === undefined || text.length > maxValue ? [] : [[key, text] as const];
    }),
  );
  return withParameters(root, known, references);
}

function isOpenShiftTemplate(text: string): boolean {
  return text.includes('parameters:') && text.includes('${') && /^kind:[ \t]*["']?Template\b/m.test(text);
}

const references: References = { pattern: /\$\{{1,2}(\w{1,200})\}{1,2}/g, mark: '${' };
