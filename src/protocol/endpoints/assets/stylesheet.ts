import type { Settings } from '../../../settings/settings.ts'
import type { Endpoint } from '../../plug-ins.ts'
import { type Asset, assetOf, assetResponse } from './asset.ts'
import { stylesheetSources } from './stylesheet-sources.ts'

/** The stylesheet of the pages. */
export const stylesheetEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/style.css`,
  methods: ['GET'],
  errors: 'json',
  async handle(request, { settings }) {
    const sheet = built.get(settings) ?? (await build(settings))
    built.set(settings, sheet)
    return assetResponse(request, sheet)
  },
}

const built = new WeakMap<Settings, Asset>()

const build = async (settings: Settings): Promise<Asset> => {
  const sheets = await stylesheetSources()
  return assetOf([...sheets, ...accents(settings)].join('\n'), 'text/css; charset=utf-8')
}

/** Returns CSS rules that replace the accent colours with the host's colours. */
const accents = ({ accentColor, accentColorDark }: Settings): readonly string[] => [
  ...(accentColor === null ? [] : [accent('light', accentColor)]),
  ...(accentColorDark === null ? [] : [accent('dark', accentColorDark)]),
]

const accent = (scheme: 'light' | 'dark', color: string): string =>
  `@media (prefers-color-scheme: ${scheme}) { :root { --accent: ${color}; } }\n`
