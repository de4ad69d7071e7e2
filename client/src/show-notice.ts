import * as vscode from 'vscode';
import { plainNotice } from './notice.ts';

// The only notifications of the extension. Names of files, objects and clusters reach all of them, and none needs a link.

/** @returns the selected action; undefined if the user closes the notification */
export function showInformation<T extends string>(text: string, ...actions: T[]): Thenable<T | undefined> {
  return vscode.window.showInformationMessage(plainNotice(text), ...actions);
}

/** @returns the selected action; undefined if the user closes the notification */
export function showWarning<T extends string>(text: string, ...actions: T[]): Thenable<T | undefined> {
  return vscode.window.showWarningMessage(plainNotice(text), ...actions);
}

/** @returns the selected action; undefined if the user closes the notification */
export function showError<T extends string>(text: string, ...actions: T[]): Thenable<T | undefined> {
  return vscode.window.showErrorMessage(plainNotice(text), ...actions);
}

/** Asks in a dialog. @returns whether the user selects the action */
export async function confirmInDialog(text: string, detail: string, action: string): Promise<boolean> {
  const options = { modal: true, detail: plainNotice(detail) };
  return (await vscode.window.showInformationMessage(plainNotice(text), options, action)) === action;
}
