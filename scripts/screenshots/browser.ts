import { accessSync, constants } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { chromiumPath } from '../chromium.ts'

/** Starts the installed Chromium. @throws Error that explains how to install Chromium */
export const launch = (): Promise<Browser> => {
  try {
    accessSync(chromiumPath, constants.X_OK)
  } catch {
    throw new Error(
      `There is no Chromium at ${chromiumPath}. Run apt-get install chromium, or set CHROMIUM_PATH.`,
    )
  }
  return chromium.launch({
    executablePath: chromiumPath,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  })
}
