package main

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"net/http"
	"os"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/request/websocket"
	"k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/authentication/user"
)

// A connection needs no certificate, as at an API server: a request without one is refused.
var askForCertificates = &tls.Config{ClientAuth: tls.RequestClientCert}

var joe = &authenticator.Response{User: &user.DefaultInfo{Name: "joe"}}

// authenticated takes requests that have the token, in a header or as a subprotocol, or a client certificate. Each is the
// name of a file, or empty: then it is not accepted. Without both every request is accepted.
func authenticated(handler http.Handler, tokenFile, authorityFile string) (http.Handler, error) {
	ways := []authenticator.Request{}
	if tokenFile != "" {
		text, err := os.ReadFile(tokenFile)
		if err != nil {
			return nil, err
		}
		known := isToken(strings.TrimSpace(string(text)))
		ways = append(ways, bearertoken.New(known), websocket.NewProtocolAuthenticator(known))
	}
	if authorityFile != "" {
		verify, err := x509.NewStaticVerifierFromFile(authorityFile)
		if err != nil {
			return nil, err
		}
		ways = append(ways, x509.NewDynamic(verify, x509.CommonNameUserConversion))
	}
	if len(ways) == 0 {
		return handler, nil
	}
	return authenticate(handler, union.New(ways...)), nil
}

func isToken(token string) authenticator.TokenFunc {
	return func(_ context.Context, given string) (*authenticator.Response, bool, error) {
		return joe, subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1, nil
	}
}

func authenticate(handler http.Handler, way authenticator.Request) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok, err := way.AuthenticateRequest(r); err != nil || !ok {
			refuse(w, apierrors.NewUnauthorized("Unauthorized"))
			return
		}
		r.Header.Del("Authorization")
		handler.ServeHTTP(w, r)
	})
}
