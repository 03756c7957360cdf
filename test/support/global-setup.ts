import { startServices } from './services.ts'

/** Once a run, before any file of tests: workers inherit the addresses, and the folder of temporary files. */
export const setup = async (): Promise<() => Promise<void>> => {
  const { env, stop } = await startServices({ hasRunFolder: true })
  const before = { ...process.env }
  Object.assign(process.env, env)
  return async () => {
    for (const name of Object.keys(env)) delete process.env[name]
    Object.assign(process.env, before)
    await stop()
  }
}
