import { runServer } from './node.ts';

// The entry point that VS Code's client starts.
runServer();
