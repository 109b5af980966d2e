/** Namespaces and names of SAML 2.0, XML-DSig and XML-Enc, as documents carry them. */

export const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol'
export const ASSERTION = 'urn:oasis:names:tc:SAML:2.0:assertion'
export const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata'
export const DSIG = 'http://www.w3.org/2000/09/xmldsig#'
export const XMLENC = 'http://www.w3.org/2001/04/xmlenc#'
export const XMLENC11 = 'http://www.w3.org/2009/xmlenc11#'

export const REDIRECT_BINDING = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'
export const POST_BINDING = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST'

export const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
export const STATUS = 'urn:oasis:names:tc:SAML:2.0:status:'

export const ENTITY_FORMAT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity'
export const PERSISTENT_FORMAT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'
export const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'
