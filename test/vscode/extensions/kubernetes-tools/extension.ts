// Stands in for the Kubernetes extension, which cannot be had offline: templates are in the language `helm`, objects of the cluster are
// documents of its own file system, manifests have its hovers and its problems.
import * as vscode from 'vscode';

export function activate(context: vscode.ExtensionContext): object {
  const problems = vscode.languages.createDiagnosticCollection('kubernetes');
  const judge = (document: vscode.TextDocument) => {
    const { languageId, uri } = document;
    if (languageId === 'yaml' || languageId === 'helm') problems.set(uri, problemsOf(document));
  };
  context.subscriptions.push(
    problems,
    vscode.workspace.onDidOpenTextDocument(judge),
    vscode.workspace.onDidChangeTextDocument(({ document }) => judge(document)),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => problems.delete(uri)),
    vscode.workspace.registerFileSystemProvider('k8smsx', cluster),
    vscode.languages.registerHoverProvider(['yaml', 'helm'], { provideHover }),
    vscode.commands.registerCommand('extension.vsKubernetesLoad', () =>
      vscode.commands.executeCommand(
        'vscode.open',
        vscode.Uri.parse('k8smsx://loadkubernetescore/deployment-chat.yaml?value=deployment%2Fchat'),
      ),
    ),
  );
  vscode.workspace.textDocuments.forEach(judge);
  return { get: (component: string) => ({ available: component === 'clusterexplorer', api: explorer(context) }) };
}

interface ExplorerNode {
  getChildren(): Promise<ExplorerNode[]>;
  getTreeItem(): vscode.TreeItem;
}

interface Contributor {
  contributesChildren(parent: object): boolean;
  getChildren(parent: object): Promise<ExplorerNode[]>;
}

/** Its tree of clusters, which other extensions can add nodes to: one cluster, open. */
function explorer(context: vscode.ExtensionContext): object {
  const contributors: Contributor[] = [];
  const refreshed = new vscode.EventEmitter<void>();
  const parent = { nodeType: 'context', name: 'prod' };
  const root: ExplorerNode = {
    async getChildren() {
      const willing = contributors.filter((one) => one.contributesChildren(parent));
      return (await Promise.all(willing.map((one) => one.getChildren(parent)))).flat();
    },
    getTreeItem: () => new vscode.TreeItem('prod', vscode.TreeItemCollapsibleState.Expanded),
  };
  context.subscriptions.push(
    vscode.window.registerTreeDataProvider<ExplorerNode>('extension.vsKubernetesExplorer', {
      onDidChangeTreeData: refreshed.event,
      getChildren: async (node) => (node === undefined ? [root] : node.getChildren()),
      getTreeItem: (node) => node.getTreeItem(),
    }),
  );
  return { registerNodeContributor: (one: Contributor) => contributors.push(one), refresh: () => refreshed.fire() };
}

function problemsOf(document: vscode.TextDocument): vscode.Diagnostic[] {
  const at = document.getText().indexOf('containers:');
  if (at < 0 || document.getText().includes('memory:')) return [];
  const range = new vscode.Range(document.positionAt(at), document.positionAt(at + 'containers'.length));
  const message = 'Memory has no limit, says the Kubernetes extension.';
  return [new vscode.Diagnostic(range, message, vscode.DiagnosticSeverity.Warning)];
}

function provideHover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | undefined {
  const { text } = document.lineAt(position);
  return /^kind:|nvidia\.com\/gpu:/.test(text.trim())
    ? new vscode.Hover('Explained by the Kubernetes extension.')
    : undefined;
}

/** What an API server gives back for a Deployment whose pods do not start: the model is split over two GPUs, and there is one. */
const chat = `apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    deployment.kubernetes.io/revision: "3"
  creationTimestamp: "2026-03-02T09:14:11Z"
  generation: 3
  name: chat
  namespace: default
  resourceVersion: "48213"
  uid: 0d9c5b8e-6f0e-4a39-9b5d-3b1f1d1f7c11
spec:
  progressDeadlineSeconds: 600
  replicas: 2
  selector:
    matchLabels: {app: chat}
  template:
    metadata:
      labels: {app: chat}
    spec:
      containers:
      - args:
        - --model=example/chat
        - --tensor-parallel-size=2
        image: vllm/vllm-openai:v0.11.0
        name: chat
        resources:
          limits:
            nvidia.com/gpu: "1"
          requests:
            nvidia.com/gpu: "1"
      nodeSelector:
        nvidia.com/gpu.product: NVIDIA-L4
      tolerations:
      - effect: NoSchedule
        key: nvidia.com/gpu
        operator: Exists
status:
  replicas: 2
  unavailableReplicas: 2
`;

const changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>();

function reject(uri: vscode.Uri): never {
  throw vscode.FileSystemError.NoPermissions(uri);
}

const cluster: vscode.FileSystemProvider = {
  onDidChangeFile: changes.event,
  watch: () => new vscode.Disposable(() => undefined),
  // Every name is an object, and reading one queries the cluster, which shows an error for unknown names.
  stat: () => ({ type: vscode.FileType.File, ctime: 0, mtime: 0, size: chat.length }),
  async readFile(uri) {
    if (uri.path === '/deployment-chat.yaml') return new TextEncoder().encode(chat);
    void vscode.window.showErrorMessage(`The cluster has no ${uri}`);
    throw vscode.FileSystemError.FileNotFound(uri);
  },
  readDirectory: () => [],
  writeFile: () => undefined,
  createDirectory: reject,
  delete: reject,
  rename: reject,
};
