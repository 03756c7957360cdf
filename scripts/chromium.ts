import { existsSync } from 'node:fs'

// The shell has no browser window, and needs about two thirds of the processor time.
const shell = '/usr/bin/chromium-headless-shell'

/** The path of Chromium. The file may not exist. */
export const chromiumPath: string =
  process.env.CHROMIUM_PATH || (existsSync(shell) ? shell : '/usr/bin/chromium')
