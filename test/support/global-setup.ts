import { startServices } from './services.ts'

/** Once a run, before any file of tests: workers inherit the addresses. */
export const setup = async (): Promise<() => Promise<void>> => {
  const { env, stop } = await startServices()
  Object.assign(process.env, env)
  return async () => {
    for (const name of Object.keys(env)) delete process.env[name]
    await stop()
  }
}
