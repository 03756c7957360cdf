import { accessSync, constants } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executablePath = process.env.CHROMIUM_PATH || '/usr/bin/chromium'

/** Starts the installed Chromium. @throws Error that explains how to install Chromium */
export const launch = (): Promise<Browser> => {
  try {
    accessSync(executablePath, constants.X_OK)
  } catch {
    throw new Error(
      `There is no Chromium at ${executablePath}. Run apt-get install chromium, or set CHROMIUM_PATH.`,
    )
  }
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  })
}
