/**
 * Takes screenshots of every page of the notes example in several variants: light, dark, on a phone, and right-to-left.
 * Writes them to screenshots/, and a selection to docs/images/.
 *
 *     npm run screenshots
 */
import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { User } from 'svc-oauth2server'
import { fillBelievably } from './screenshots/believable-sample.ts'
import { launch } from './screenshots/browser.ts'
import { asBrowserCookie, beginSession } from './screenshots/browser-session.ts'
import { gallery } from './screenshots/gallery.ts'
import { startSampleServer } from './screenshots/sample-server.ts'

const root = resolve(import.meta.dirname, '..')
const folder = join(root, 'screenshots')
const docs = join(root, 'docs/images')

const desktop = { viewport: { width: 1200, height: 800 } }
const phone = {
  viewport: { width: 360, height: 740 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
}

const variants: Readonly<Record<string, BrowserContextOptions>> = {
  light: desktop,
  dark: { ...desktop, colorScheme: 'dark' },
  phone,
  rtl: { ...desktop, locale: 'ar' },
}

/** The selected screenshots, by picture and variant, with their file names in docs/images. */
const selected: Readonly<Record<string, string>> = {
  'notes light': 'start-page',
  'applications light': 'applications',
  'application-new-secret light': 'application',
  'token-new-value light': 'personal-token',
  'consent light': 'consent',
  'administration dark': 'administration-dark',
  'authorization rtl': 'authorization-arabic',
}

/** The maximum height of an image in the documentation, in pixels. The image shows the upper part of a longer page. */
const maxHeight = 1180

const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
const address = '203.0.113.24'

type Cookie = ReturnType<typeof asBrowserCookie>

/** Opens a page in a browser. The browser is logged in if a cookie is given. */
const pageOf = async (
  browser: Browser,
  cookie: Cookie | undefined,
  options: BrowserContextOptions,
): Promise<Page> => {
  const context = await browser.newContext({
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    userAgent,
    extraHTTPHeaders: { 'x-forwarded-for': address },
    ...options,
  })
  if (cookie) await context.addCookies([cookie])
  return context.newPage()
}

const take = async (page: Page, name: string, variant: string): Promise<void> => {
  // The script of the page inserts the confirmation with a delay, so wait for the confirmation.
  await page.locator('[role=status]:empty').waitFor({ state: 'detached' })
  const whole = await page.screenshot({
    path: join(folder, variant, `${name}.png`),
    fullPage: true,
    scale: variant === 'phone' ? 'device' : 'css',
  })
  const title = selected[`${name} ${variant}`]
  if (title === undefined) return
  const height = Math.min(maxHeight, whole.readUInt32BE(20))
  await page.screenshot({
    path: join(docs, `${title}.png`),
    fullPage: true,
    scale: 'css',
    clip: { x: 0, y: 0, width: desktop.viewport.width, height },
  })
}

try {
  await using browser = await launch()
  await using started = await startSampleServer(fillBelievably)
  const { server, sample, mailbox } = started
  await rm(folder, { recursive: true, force: true })
  await mkdir(docs, { recursive: true })
  const logIn = async ({ id }: User) =>
    asBrowserCookie(await beginSession(server, id, { address, userAgent }))
  const viewer = await logIn(sample.viewer)
  const newcomer = await logIn(sample.newcomer)
  const collector = await logIn(sample.collector)
  for (const [variant, options] of Object.entries(variants)) {
    const pages = {
      viewer: await pageOf(browser, viewer, options),
      newcomer: await pageOf(browser, newcomer, options),
      collector: await pageOf(browser, collector, options),
      nobody: await pageOf(browser, undefined, options),
    }
    for (const { name, as, open } of gallery(server.issuer, sample, mailbox)) {
      await open(pages[as])
      await take(pages[as], name, variant)
    }
    await Promise.all(Object.values(pages).map((page) => page.context().close()))
  }
  console.log(`The screenshots are in ${folder}; a selection is in ${docs}.`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
