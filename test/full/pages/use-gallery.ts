import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll } from 'vitest'
import { registerSample } from '../../../examples/notes/sample-application/register.ts'
import type { Demo } from '../../../examples/notes/start-page/routes.ts'
import { asBrowserCookie, beginSession } from '../../../scripts/screenshots/browser-session.ts'
import { gallery, type Picture } from '../../../scripts/screenshots/gallery.ts'
import {
  type FillSample,
  type Mailbox,
  type Sample,
  sampleClock,
  sampleOptions,
} from '../../../scripts/screenshots/sample.ts'
import { useSite } from './site.ts'

const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0'

/** All pages of a server whose database contains sample data. */
export interface Gallery {
  /**
   * Opens every page, and runs `look` on each page or on every second page.
   * @returns the findings, each after the name of its page
   */
  tour(
    options: BrowserContextOptions,
    look: (page: Page) => Promise<readonly string[]>,
    which?: 'all' | 'even' | 'odd',
  ): Promise<readonly string[]>
}

/** Starts Chromium and a server whose database contains sample data, for the tests of a file. */
export const useGallery = (fill: FillSample): Gallery => {
  const clock = sampleClock(Date.now())
  let demo: Demo | undefined
  const mailbox: Mailbox = new Map()
  const site = useSite({ ...sampleOptions(clock, mailbox), demo: () => demo })
  let sample: Sample
  beforeAll(async () => {
    const { server, issuer } = site.app
    sample = await fill(server, clock)
    const { email, id } = sample.viewer
    demo = { email, sampleClientId: await registerSample(server, id, issuer) }
  })

  const pageOf = async (as: Picture['as'], options: BrowserContextOptions): Promise<Page> => {
    const page = await site.newPage({ userAgent, ...options })
    if (as === 'nobody') return page
    const device = { address: '127.0.0.1', userAgent }
    const cookie = await beginSession(site.app.server, sample[as].id, device)
    await page.context().addCookies([asBrowserCookie(cookie)])
    return page
  }

  return {
    async tour(options, look, which = 'all') {
      const pages = {
        viewer: await pageOf('viewer', options),
        newcomer: await pageOf('newcomer', options),
        collector: await pageOf('collector', options),
        nobody: await pageOf('nobody', options),
      }
      const heard: string[] = []
      const pictures = gallery(site.app.issuer, sample, mailbox)
      for (const [index, { name, as, open }] of pictures.entries()) {
        await open(pages[as])
        if (which !== 'all' && (which === 'even') !== (index % 2 === 0)) continue
        // Wait for the stylesheet, which loads after the content of the page.
        await pages[as].waitForLoadState('load')
        const seen = await look(pages[as])
        heard.push(...seen.map((line) => `${name}: ${line}`))
      }
      return heard
    },
  }
}
