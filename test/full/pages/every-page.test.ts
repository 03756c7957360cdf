import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { fillBelievably } from '../../../scripts/screenshots/believable-sample.ts'
import { fillWithHostility } from '../../../scripts/screenshots/hostile-sample.ts'
import { lacks } from '../../support/needs.ts'
import { violations } from './axe.ts'
import { layoutErrors } from './layout.ts'
import { sharedNames } from './names.ts'
import { useGallery } from './use-gallery.ts'
import { desktop, isWhole, phone } from './ways.ts'

type Way = readonly [string, BrowserContextOptions]
const english = (device: string, options: BrowserContextOptions): Way => [
  `in English on a ${device}`,
  { ...options, locale: 'en-GB' },
]
const arabic = (device: string, options: BrowserContextOptions): Way => [
  `in Arabic on a ${device}`,
  { ...options, locale: 'ar' },
]

/** Milliseconds for all pages. A tour takes about a minute on a machine without other load. */
const tourTimeout = 300_000

/** Runs axe and the layout checks on the open page, and looks for controls with the same name. */
const look = async (page: Page): Promise<readonly string[]> => {
  const screen = page.viewportSize()
  const found = [
    ...(await violations(page)),
    ...(await sharedNames(page)),
    ...(await layoutErrors(page)),
  ]
  if (screen) await page.setViewportSize(screen)
  return found
}

// By default, the first tour looks at every second page, and the second tour at the other pages. The four tours of
// `npm run test:nodes` look at all pages.
describe.skipIf(await lacks('chromium')).each([
  [
    'ordinary data',
    fillBelievably,
    isWhole ? [english('desktop', desktop), arabic('phone', phone)] : [english('desktop', desktop)],
    isWhole ? 'all' : 'even',
  ],
  [
    'hostile data',
    fillWithHostility,
    isWhole ? [english('phone', phone), arabic('desktop', desktop)] : [arabic('phone', phone)],
    isWhole ? 'all' : 'odd',
  ],
] as const)('every page, showing %s', (_, fill, ways, which) => {
  const gallery = useGallery(fill)

  test.each(ways)(
    'passes the checks of axe and of the layout %s, and names each button differently [T3007]',
    async (_way, options) => {
      expect(await gallery.tour(options, look, which)).toEqual([])
    },
    tourTimeout,
  )
})
