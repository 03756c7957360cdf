import { existsSync } from 'node:fs'

/**
 * Returns the URL of the file of a worker thread, beside a module. Returns undefined if a bundler of the application left
 * the file out. The caller then works without a thread.
 * @param moduleUrl the URL of the module; undefined in a bundle of CommonJS modules
 */
export const workerFile = (name: string, moduleUrl: string | undefined): URL | undefined => {
  if (moduleUrl === undefined) return undefined
  // Use the file extension of the module, because Node runs TypeScript sources in a development checkout.
  const url = new URL(`${name}${moduleUrl.endsWith('.ts') ? '.ts' : '.js'}`, moduleUrl)
  return url.protocol === 'file:' && existsSync(url) ? url : undefined
}
