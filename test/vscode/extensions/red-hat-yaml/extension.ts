// Stands in for Red Hat's YAML extension, which cannot be had offline: the same id and the same language server, started the same way.
import type { ExtensionContext } from 'vscode';
import { LanguageClient } from 'vscode-languageclient/node';

/** A piece of a schema for pods, enough to see hovers and completions of both extensions at one place. */
const podSchema = {
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      properties: {
        containers: {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            properties: {
              name: { type: 'string' },
              image: { type: 'string' },
              resources: {
                type: 'object',
                properties: {
                  limits: {
                    type: 'object',
                    description: 'The most that the container may use, says the schema.',
                    properties: {
                      cpu: { description: 'Processor time, says the schema.' },
                      memory: { description: 'Memory, says the schema.' },
                      'nvidia.com/gpu': { description: 'GPUs, says the schema.' },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
};

export async function activate(context: ExtensionContext): Promise<void> {
  const [command = '', ...args] = JSON.parse(process.env.GPULINT_YAML_SERVER ?? '[]') as string[];
  const client = new LanguageClient(
    'yaml',
    'YAML (stand-in)',
    { command, args },
    { documentSelector: [{ language: 'yaml' }] },
  );
  context.subscriptions.push(client);
  await client.start();
  await client.sendNotification('yaml/supportSchemaSelection', {});
  await client.sendNotification('workspace/didChangeConfiguration', {
    settings: {
      yaml: {
        validate: true,
        hover: true,
        completion: true,
        schemaStore: { enable: false },
        kubernetesCRDStore: { enable: false },
      },
    },
  });
  await client.sendNotification('json/schemaAssociations', [
    { fileMatch: ['beside-*.yaml'], schema: podSchema, uri: 'memory://pod.schema.json' },
  ]);
}
