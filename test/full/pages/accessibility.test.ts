import { describe, expect, test } from 'vitest'
import { fillBelievably } from '../../../scripts/screenshots/believable-sample.ts'
import { fillWithHostility } from '../../../scripts/screenshots/hostile-sample.ts'
import { lacks } from '../../support/needs.ts'
import { violations } from './axe.ts'
import { useGallery } from './use-gallery.ts'
import { desktop, phone } from './ways.ts'

describe.skipIf(await lacks('chromium')).each([
  ['what people have', fillBelievably],
  ['what others mean ill', fillWithHostility],
])('axe finds nothing wrong with any page, showing %s', (_, fill) => {
  const gallery = useGallery(fill)

  describe.each([
    ['a desktop', desktop],
    ['a phone', phone],
  ])('on %s', (_device, options) => {
    test.each([
      ['English', 'en-GB'],
      ['Arabic', 'ar'],
    ])('in %s', async (_language, locale) => {
      expect(await gallery.tour({ ...options, locale }, violations)).toEqual([])
    })
  })
})
