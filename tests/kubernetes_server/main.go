// An API server's exec and attach, and a container runtime's behind them, on loopback, for tests.
//
// Both are Kubernetes' own code: the handlers of k8s.io/apiserver, and the streaming server that containerd and CRI-O link.
// The pods are processes of this machine (pods.go).
package main

import (
	"flag"
	"log"
	"net"
	"net/http"
	"net/url"

	"k8s.io/cri-streaming/pkg/streaming"
)

func main() {
	address := flag.String("address", "127.0.0.1:6443", "where the API server listens")
	token := flag.String("token", "", "a file with the bearer token that requests need, unless they have a client certificate")
	cert := flag.String("cert", "", "a file with the server's certificate: TLS")
	key := flag.String("key", "", "a file with the certificate's key")
	authority := flag.String("client-ca", "", "a file with the authority of the client certificates that requests need")
	flag.Parse()

	runtime, err := startRuntime()
	if err != nil {
		log.Fatal(err)
	}
	handler, err := authenticated(api(runtime), *token, *authority)
	if err != nil {
		log.Fatal(err)
	}
	server := http.Server{Addr: *address, Handler: handler, TLSConfig: askForCertificates}
	if *cert == "" {
		log.Fatal(server.ListenAndServe())
	}
	log.Fatal(server.ListenAndServeTLS(*cert, *key))
}

// startRuntime starts a container runtime's streaming server; a URL that it makes is good for one request.
func startRuntime() (streaming.Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	config := streaming.DefaultConfig
	config.BaseURL = &url.URL{Scheme: "http", Host: listener.Addr().String()}
	server, err := streaming.NewServer(config, &pods{shells: map[string]*program{}})
	if err != nil {
		return nil, err
	}
	go func() { log.Fatal(http.Serve(listener, server)) }()
	return server, nil
}
