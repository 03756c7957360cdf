// RFC 9207: Authorization Server Issuer Identification
import type { Extension } from '../plug-ins.ts'

/** Adds the issuer to every authorization response, so that clients detect mix-up attacks. */
export const issuerIdentification: Extension = {
  name: 'issuer-identification',
  metadata: () => ({ authorization_response_iss_parameter_supported: true }),
  onAuthorizationResponse: ({ issuer }) => ({ iss: issuer }),
}
