import type { Settings } from '../../settings/settings.ts'

/** Returns the algorithms that a client may register for its ID tokens. */
export const idTokenAlgorithms = ({
  securityProfile,
}: Pick<Settings, 'securityProfile'>): readonly Settings['signingAlgorithm'][] =>
  // OpenID Connect Discovery §3 requires RS256, but the FAPI 2.0 Security Profile excludes it (§5.4.1).
  securityProfile === 'fapi2' ? ['ES256', 'EdDSA'] : ['RS256', 'ES256', 'EdDSA']

/** Returns the algorithms for which the settings require a signing key. */
export const requiredAlgorithms = (
  settings: Pick<
    Settings,
    'accessTokenFormat' | 'openidConnect' | 'securityProfile' | 'signingAlgorithm'
  >,
): readonly Settings['signingAlgorithm'][] => {
  const { accessTokenFormat, openidConnect, signingAlgorithm } = settings
  return [
    ...new Set([
      ...(accessTokenFormat === 'jwt' || !openidConnect ? [signingAlgorithm] : []),
      ...(openidConnect ? idTokenAlgorithms(settings) : []),
    ]),
  ]
}
