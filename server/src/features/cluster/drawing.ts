import { clusterJson, clusterMarkdown, poolYaml } from './cluster-text.ts';
import { clusterTree } from './cluster-tree.ts';
import { dashboardPage } from './dashboard.ts';
import { headWords } from './device-usage-words.ts';
import type { ClusterDrawing, ClusterDrawn } from './drawn.ts';
import type { DrawnCluster } from './drawn-cluster.ts';

/** What an editor shows of a cluster, in words. */
export function drawCluster(cluster: DrawnCluster, drawing: ClusterDrawing): ClusterDrawn {
  switch (drawing.kind) {
    case 'tree':
      return { nodes: clusterTree(cluster, drawing), text: headWords(cluster.view) };
    case 'page':
      return { nodes: [], text: dashboardPage(cluster, drawing.nonce) };
    case 'markdown':
      return { nodes: [], text: clusterMarkdown(cluster.view) };
    case 'json':
      return { nodes: [], text: clusterJson(cluster) };
    case 'pool':
      return { nodes: [], text: poolYaml(cluster.view, drawing.pool) };
  }
}
